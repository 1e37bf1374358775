"""People are told what happened and what to do, without a traceback."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from services.cli.main import build, run


@pytest.fixture(autouse=True)
def _restored_signals() -> Iterator[None]:
    """The program decides what SIGTERM does to it; these tests are not the program."""
    former = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, former)


def outcome(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[object, str]:
    """The exit code and what was written to stderr."""
    monkeypatch.setattr(sys, "argv", ["knowgate", *arguments])
    with pytest.raises(SystemExit) as ended:
        run()
    return ended.value.code, capsys.readouterr().err


def test_every_command_of_the_product_is_there() -> None:
    names = {command.callback.__name__ for command in build().registered_commands if command.callback}
    groups = {group.name for group in build().registered_groups if not group.hidden}

    assert names == {"up", "demo", "ingest", "search", "token", "doctor", "migrate", "reconcile"}
    assert groups == {"operations", "dead-letters", "audit", "grants", "accounts", "tokens", "revoke", "spaces"}


def test_help_is_printed_without_a_command() -> None:
    result = CliRunner().invoke(build(), [])

    assert "Run everything on this machine" in result.output


def test_a_gateway_that_is_not_up_is_told_with_the_way_to_start_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = outcome(["search", "x", "--space", "y", "--home", str(tmp_path)], monkeypatch, capsys)

    assert code == 1
    assert told.startswith(f"Error: No gateway runs in {tmp_path}.\n")
    assert "knowgate up" in told


def test_a_wrong_setting_is_named_without_its_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KNOWGATE_DATABASE_URL", "mysql://user:secret@host/name")

    code, told = outcome(["migrate", "--home", str(tmp_path)], monkeypatch, capsys)

    assert code == 1
    assert "Error: A setting of DatabaseSettings is wrong: url: " in told
    assert "secret" not in told


def test_a_wrong_option_has_the_exit_code_of_a_wrong_use(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = outcome(["up", "--workers", "0"], monkeypatch, capsys)

    assert code == 2
    assert "--workers" in told
