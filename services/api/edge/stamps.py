"""What a request is known by: its request id and its trace."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from shared.contracts.envelope import MAX_META_ID
from shared.contracts.route import REQUEST_ID, Header
from shared.telemetry.stamps import new_id, new_traceparent, trace_id_of

_PRINTABLE: Final = re.compile(r"[\x21-\x7e]+")
_TRACEPARENT: Final = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")

STAMPS: Final = "knowgate.stamps"
"""Under this key a request's scope holds its stamps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamps:
    """The ids that an answer, a log line, an audit entry and a command of one request share."""

    request_id: str
    """At most as long as an answer may hold, so shorter than what the client may have sent."""
    traceparent: str

    @property
    def trace_id(self) -> str:
        """The trace that the request belongs to."""
        return trace_id_of(self.traceparent)


def is_acceptable(value: str | None, header: Header) -> bool:
    """Whether a caller's header holds printable ASCII without spaces, of the contract's length."""
    return (
        value is not None
        and header.min_length <= len(value) <= header.max_length
        and _PRINTABLE.fullmatch(value) is not None
    )


def stamp(headers: Mapping[str, str]) -> Stamps:
    """The stamps of a request; what it did not bring, or brought in an unusable form, is made."""
    sent = headers.get(REQUEST_ID.name.lower())
    request_id = sent[:MAX_META_ID] if sent is not None and is_acceptable(sent, REQUEST_ID) else new_id("req")
    traceparent = headers.get("traceparent")
    if traceparent is None or _TRACEPARENT.fullmatch(traceparent) is None:
        traceparent = new_traceparent()
    return Stamps(request_id=request_id, traceparent=traceparent)
