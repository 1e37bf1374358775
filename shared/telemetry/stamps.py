"""What everything is stamped with: the time, a new id, a trace."""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime

from ulid import ULID

Clock = Callable[[], datetime]
"""Tells the aware UTC time; an argument wherever time matters, so that tests set it."""

NewId = Callable[[str], str]
"""Makes an id that begins with the given prefix."""


def utc_now() -> datetime:
    """The aware UTC time now."""
    return datetime.now(UTC)


def new_id(prefix: str) -> str:
    """An opaque id such as ``doc_01k…``: sortable by time, without dots, safe in URLs and subjects."""
    return f"{prefix}_{str(ULID()).lower()}"


def new_traceparent() -> str:
    """A W3C trace context for work that came without one."""
    return f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"


def trace_id_of(traceparent: str) -> str:
    """The trace id in a W3C trace context."""
    return traceparent.split("-")[1]
