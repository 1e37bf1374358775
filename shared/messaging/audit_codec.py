"""What is published of the audit as messages, and back."""

from typing import Final

from pydantic import TypeAdapter, ValidationError

from shared.contracts.audit_messages import AuditMessage, CheckpointSigned
from shared.contracts.catalogue import audit_subject
from shared.contracts.ids import TenantId, tenant_token
from shared.messaging.codec import Message, cloud_event_headers

SOURCE: Final = "projector"
_MESSAGES: Final[TypeAdapter[AuditMessage]] = TypeAdapter(AuditMessage)


def audit_message(told: AuditMessage) -> Message:
    """An entry or a checkpoint as a message. Its id ends in the place in the chain."""
    message_id = _message_id(told)
    return Message(
        subject=audit_subject(told.chain),
        body=told.to_json(),
        headers=cloud_event_headers(
            ce_id=message_id,
            kind=told.kind,
            tenant_id=told.chain,
            time=told.at,
            source=SOURCE,
            traceparent=None,
        ),
        message_id=message_id,
    )


def place_of(message_id: str | None) -> int:
    """The place in its chain that a published message tells of; 0 for what is no message of ours."""
    place = (message_id or "").rpartition(".")[2]
    return int(place) if place.isdecimal() else 0


def read_audit_message(body: bytes) -> AuditMessage | None:
    """The entry or checkpoint in a message; None when there is none."""
    try:
        return _MESSAGES.validate_json(body)
    except ValidationError:
        return None


def _message_id(told: AuditMessage) -> str:
    token = tenant_token(TenantId(told.chain))
    return f"{token}.checkpoint.{told.seq}" if isinstance(told, CheckpointSigned) else f"{token}.{told.seq}"
