"""Masses of queued operations cancelled at once are in nobody's way any more. The same on both databases."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from shared.contracts.enums import EventType, Step
from shared.contracts.ids import OperationId, TenantId
from shared.contracts.operations import OperationReasonRequest
from shared.database.database import Database
from shared.database.outbox_queue import measure_backlog
from shared.domain.errors import StoreUnavailable
from shared.lifecycle.cancel_operation import cancel_operation
from shared.messaging.codec import Message
from shared.messaging.publisher import Acked
from shared.outbox.dispatcher import Dispatcher
from shared.outbox.windows import Windows
from tests.integration.lifecycle.bench import ANA, Bench
from tests.integration.lifecycle.masses import queued

pytestmark = pytest.mark.anyio

MANY = {"sqlite": 500, "postgresql": 200}
"""Less where each is a conversation with a server."""
PIECE = 250
"""So many are cancelled in one transaction."""
WINDOW = 8
BEA = replace(ANA, tenant=TenantId("globex"))
REASON = OperationReasonRequest(reason="It was the wrong folder.")


@dataclass
class Broker:
    """Acknowledges everything, and remembers whose work it was given."""

    taken: list[str] = field(default_factory=list)

    async def publish_many(self, messages: Sequence[Message]) -> Sequence[Acked | StoreUnavailable]:
        self.taken += [message.message_id.partition(".")[0] for message in messages]
        acked = Acked(stream="c", stream_created="s", sequence=len(self.taken), is_duplicate=False)
        return [acked for _ in messages]


def dispatcher(bench: Bench, broker: Broker) -> Dispatcher:
    return Dispatcher(
        database=bench.database,
        publisher=broker,
        windows=Windows(WINDOW),
        slots=dict,
        guard=lambda _: None,
        clock=bench.watch,
    )


async def cancel_all(bench: Bench, operation_ids: Sequence[OperationId]) -> None:
    for start in range(0, len(operation_ids), PIECE):
        piece = operation_ids[start : start + PIECE]
        await bench.write(
            lambda conn, piece=piece: [  # type: ignore[misc]
                cancel_operation(conn, operation_id, REASON, bench.request(), bench.around) for operation_id in piece
            ]
        )


async def test_masses_of_queued_operations_leave_the_queue_to_others_when_they_are_cancelled(
    database: Database,
) -> None:
    bench, broker = Bench(database), Broker()
    many = await queued(bench, MANY[database.dialect])
    await dispatcher(bench, broker).round()
    assert len(broker.taken) == WINDOW
    out = set(broker.taken)

    await cancel_all(bench, many)

    (newcomer,) = await queued(bench, 1, BEA)
    backlog = await database.read(lambda conn: measure_backlog(conn, bench.watch()))
    assert (backlog[Step.UPLOAD].queued, backlog[Step.UPLOAD].published) == (1, WINDOW)
    assert backlog[Step.CANCEL].queued == WINDOW
    assert set(await published(bench, broker)) == out  # the cancels of what is out, and nothing of the others
    await confirm_cancels(bench, out)
    assert await published(bench, broker) == [newcomer]
    uploads = "SELECT status, count(*) FROM operation WHERE type = 'DOCUMENT_UPLOAD' GROUP BY status ORDER BY status"
    assert await bench.rows(uploads) == [("CANCELLED", len(many)), ("PENDING", 1)]


async def published(bench: Bench, broker: Broker) -> list[str]:
    """Whose commands the next round publishes."""
    broker.taken.clear()
    await dispatcher(bench, broker).round()
    return list(broker.taken)


async def confirm_cancels(bench: Bench, operation_ids: Iterable[str]) -> None:
    """What workers answer to the cancels, and of the uploads that they had in hand."""
    for operation_id in operation_ids:
        commands = (f"{operation_id}.cancel.1.1", f"{operation_id}.upload.1.1")
        await bench.tell(*(bench.event(command, EventType.CANCELLED) for command in commands))
