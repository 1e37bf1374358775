"""What lies in the stream of dead letters: copies of commands that nobody could read, and the broker's advisories."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum, unique
from typing import Final

from pydantic import AwareDatetime, BaseModel, Field, ValidationError

from shared.contracts.catalogue import DEADLETTER_SUBJECT
from shared.messaging.codec import CE_ID, CE_TENANT, CE_TYPE, CONTENT_TYPE, TRACEPARENT, Message
from shared.messaging.stream_state import StoredMessage

REASON: Final = "knowgate-reason"
ORIGIN: Final = "knowgate-origin"
KEPT: Final = (CE_ID, CE_TYPE, CE_TENANT, CONTENT_TYPE, TRACEPARENT)
"""The headers that a copy keeps: those that tell whose it is."""
COPY_SUBJECT: Final = DEADLETTER_SUBJECT.format(kind="command")
ADVISORY_PREFIX: Final = "$JS.EVENT.ADVISORY.CONSUMER."
GONE: Final = "Unacknowledged message was deleted"
"""The broker's own reason (measured on 2.15) for a message that it wants to deliver again and does not have."""


@unique
class AdvisoryKind(StrEnum):
    """What the broker says of a message, as its subject names it."""

    MAX_DELIVERIES = "MAX_DELIVERIES"
    """It was delivered as often as it may be, and stays in the stream without ever being delivered again."""
    MSG_TERMINATED = "MSG_TERMINATED"
    """A consumer has said that it can never be worked on; it is gone from the stream."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advisory:
    """One of the broker's advisories about a message of a stream."""

    kind: AdvisoryKind
    origin: str
    sequence: int
    deliveries: int
    at: datetime
    reason: str = ""
    """Of a termination; empty when whoever did it gave none."""

    @property
    def is_of_gone_message(self) -> bool:
        """True when nobody terminated anything: a broker that was killed has forgotten that the message was settled."""
        return self.reason == GONE


class _AdvisoryBody(BaseModel):
    """The fields of the broker's JSON that we read; there are others."""

    stream: str
    stream_seq: int = Field(ge=1)
    deliveries: int
    timestamp: AwareDatetime
    reason: str = ""


def origin_of(stream: str, sequence: int) -> str:
    """Which message of which stream."""
    return f"{stream}.{sequence}"


def copy_of(body: bytes, headers: Mapping[str, str], *, origin: str, reason: str) -> Message:
    """The copy of a command that cannot be worked on. Copied again it has the same id; another message never has it."""
    digest = hashlib.sha256(body).hexdigest()[:16]
    return Message(
        subject=COPY_SUBJECT,
        body=body,
        headers={name: value for name, value in headers.items() if name in KEPT} | {REASON: reason, ORIGIN: origin},
        message_id=f"deadletter.{headers.get(CE_ID, '')}.{origin}.{digest}",
    )


def read_advisory(message: StoredMessage) -> Advisory | None:
    """The advisory in a message; None when it is something else."""
    kind = message.subject.removeprefix(ADVISORY_PREFIX).partition(".")[0]
    if not message.subject.startswith(ADVISORY_PREFIX) or kind not in set(AdvisoryKind):
        return None
    try:
        body = _AdvisoryBody.model_validate_json(message.body)
    except ValidationError:
        return None
    return Advisory(
        kind=AdvisoryKind(kind),
        origin=origin_of(body.stream, body.stream_seq),
        sequence=body.stream_seq,
        deliveries=body.deliveries,
        at=body.timestamp,
        reason=body.reason,
    )
