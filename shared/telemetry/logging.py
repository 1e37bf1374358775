"""Log events as JSON lines on stdout, ours and those of libraries alike, with the ids that are bound to the task.

An event is a dotted constant with key-values: ``log.info("worker.step.failed", reason=...)``. Ids are bound with
`structlog.contextvars.bound_contextvars`, so that whoever logs below needs not know them.
"""

import logging
import sys
from typing import TextIO

import orjson
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from shared.telemetry.settings import LogForm, LogLevel, TelemetrySettings

LEVELS: dict[LogLevel, int] = {
    LogLevel.DEBUG: logging.DEBUG,
    LogLevel.INFO: logging.INFO,
    LogLevel.WARNING: logging.WARNING,
    LogLevel.ERROR: logging.ERROR,
}
QUIET = ("faststream", "httpx", "httpcore", "nats", "asyncio")
"""Libraries that tell of every message; only their warnings are worth a line."""


def configure_logging(settings: TelemetrySettings, *, service: str, stream: TextIO | None = None) -> None:
    """Set up logging for the whole process; once, in its `main`."""
    level = LEVELS[settings.log_level]
    shared = _shared(service)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(stream or sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_renderers(settings.log_form)],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for name in QUIET:
        library = logging.getLogger(name)
        library.handlers, library.propagate = [], True  # some bring a handler of their own
        library.setLevel(max(level, logging.WARNING))


def _shared(service: str) -> list[Processor]:
    def name_service(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        event["service"] = service
        return event

    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        name_service,
    ]


def _renderers(form: LogForm) -> list[Processor]:
    if form is LogForm.CONSOLE:
        return [structlog.dev.ConsoleRenderer(colors=False)]
    return [
        structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False)),
        structlog.processors.JSONRenderer(serializer=_to_json),
    ]


def _to_json(event: EventDict, **_: object) -> str:
    return orjson.dumps(event, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
