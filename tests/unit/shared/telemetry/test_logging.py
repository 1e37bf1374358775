"""What a process writes about itself."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from shared.telemetry.logging import configure_logging
from shared.telemetry.settings import LogForm, LogLevel, TelemetrySettings


@pytest.fixture(autouse=True)
def _restored_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture
def written() -> io.StringIO:
    return io.StringIO()


def lines(written: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in written.getvalue().splitlines()]


def test_an_event_is_one_json_line_with_its_ids_bound(written: io.StringIO) -> None:
    configure_logging(TelemetrySettings(), service="worker", stream=written)
    with structlog.contextvars.bound_contextvars(command_id="op_1.upload.1.1"):
        structlog.get_logger().info("worker.step.began", step="upload")
    (line,) = lines(written)
    assert line["event"] == "worker.step.began"
    assert (line["service"], line["level"], line["step"]) == ("worker", "info", "upload")
    assert line["command_id"] == "op_1.upload.1.1"
    assert str(line["timestamp"]).endswith("Z")


def test_a_library_is_written_in_the_same_form(written: io.StringIO) -> None:
    configure_logging(TelemetrySettings(), service="api", stream=written)
    logging.getLogger("some.library").warning("pool is %s", "full")
    (line,) = lines(written)
    assert (line["event"], line["logger"], line["service"]) == ("pool is full", "some.library", "api")


def test_libraries_that_tell_of_every_message_are_heard_only_when_they_warn(written: io.StringIO) -> None:
    configure_logging(TelemetrySettings(), service="api", stream=written)
    logging.getLogger("faststream.nats").info("Received")
    logging.getLogger("faststream.nats").warning("Connection broken")
    assert [line["event"] for line in lines(written)] == ["Connection broken"]


def test_events_below_the_level_are_not_written(written: io.StringIO) -> None:
    configure_logging(TelemetrySettings(log_level=LogLevel.ERROR), service="api", stream=written)
    structlog.get_logger().warning("api.something.odd")
    assert lines(written) == []


def test_an_exception_is_written_with_its_traceback_and_without_what_variables_held(written: io.StringIO) -> None:
    configure_logging(TelemetrySettings(), service="worker", stream=written)
    token = "not to be seen"
    try:
        assert token
        raise ValueError("odd")
    except ValueError:
        structlog.get_logger().exception("worker.step.crashed")
    (line,) = lines(written)
    assert "ValueError" in json.dumps(line["exception"])
    assert token not in written.getvalue()


def test_the_console_form_is_for_people(written: io.StringIO) -> None:
    configure_logging(TelemetrySettings(log_form=LogForm.CONSOLE), service="worker", stream=written)
    structlog.get_logger().info("worker.started")
    assert "worker.started" in written.getvalue()
    assert not written.getvalue().startswith("{")
