"""Turns outbox rows into messages, and what the broker answered into what the rows say."""

from collections.abc import Sequence
from datetime import datetime

from shared.database.outbox import OutboxCommand, Publication
from shared.domain.errors import StoreUnavailable
from shared.messaging.codec import (
    CURRENT_SCHEMA,
    Message,
    command_headers,
    command_message_id,
    version_of,
)
from shared.messaging.publisher import Acked


def message_of(row: OutboxCommand, source: str) -> Message:
    """The message of a row's current publication. `source` names the sending service.

    The body goes out as it is: another release may have written it, and its headers say so.
    """
    version = version_of(row.body)
    return Message(
        subject=row.subject,
        body=row.body,
        headers=command_headers(
            command_id=row.command_id,
            step=row.step,
            tenant_id=row.tenant_id,
            issued_at=row.created_at,
            source=source,
            traceparent=row.traceparent,
            version=CURRENT_SCHEMA if version is None else version,
        ),
        message_id=command_message_id(row.command_id, row.publication),
    )


def publications(
    rows: Sequence[OutboxCommand], answers: Sequence[Acked | StoreUnavailable], now: datetime
) -> list[Publication]:
    """What to note of the rows that were acknowledged; the others are taken up again later under the same id."""
    return [
        Publication(
            command_id=row.command_id,
            publication=row.publication,
            sequence=answer.sequence,
            stream_created=answer.stream_created,
            published_at=now,
        )
        for row, answer in zip(rows, answers, strict=True)
        if isinstance(answer, Acked)
    ]
