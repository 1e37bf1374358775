"""Publishing what was committed: behind the answer, bounded, and never a reason to fail."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry

from services.api.broker.outgoing import MOST_WAITING, Outgoing
from services.api.metrics import ApiMetrics
from shared.contracts.enums import Step
from shared.contracts.ids import TenantId
from shared.database.outbox import OutboxCommand
from shared.domain.errors import StoreUnavailable
from shared.messaging.codec import Message
from shared.messaging.publisher import Acked

NOW = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)


class Broker:
    """Takes messages; fails as told."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure
        self.messages: list[Message] = []

    async def publish_many(self, messages: Sequence[Message]) -> Sequence[Acked | StoreUnavailable]:
        if isinstance(self.failure, StoreUnavailable):
            return [self.failure for _ in messages]
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        self.messages.extend(messages)
        return [Acked(stream="s", stream_created="c", sequence=1, is_duplicate=False) for _ in messages]


def command(number: int) -> OutboxCommand:
    return OutboxCommand(
        command_id=f"op_{number}.upload.1.1",
        owner_id=f"op_{number}",
        step=Step.UPLOAD,
        tenant_id=TenantId("acme"),
        subject="knowgate.command.upload.x",
        body=b"{}",
        traceparent="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        due_at=NOW,
        created_at=NOW,
        published_at=NOW,
    )


async def publish(broker: Broker, numbers: Sequence[int]) -> ApiMetrics:
    metrics = ApiMetrics(CollectorRegistry())
    outgoing = Outgoing(broker, metrics)
    for number in numbers:
        outgoing.offer(command(number))
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(outgoing.run())
        await outgoing.stop()
    return metrics


def counted(metrics: ApiMetrics, outcome: str) -> float | None:
    return metrics.registry.get_sample_value("knowgate_api_commands_total", {"outcome": outcome})


async def test_what_was_offered_is_out_before_a_stop_ends() -> None:
    broker = Broker()

    metrics = await publish(broker, range(600))

    assert [message.message_id for message in broker.messages] == [f"op_{n}.upload.1.1.1" for n in range(600)]
    assert broker.messages[0].headers["traceparent"] == "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    assert broker.messages[0].headers["ce-time"] == "2031-05-06T07:08:09.000Z"
    assert counted(metrics, "published") == 600


async def test_what_the_broker_does_not_take_is_left_to_the_dispatcher() -> None:
    metrics = await publish(Broker(StoreUnavailable()), [1, 2])

    assert counted(metrics, "left") == 2


async def test_a_failure_that_nobody_foresaw_ends_nothing() -> None:
    broker = Broker(ValueError("unforeseen"))

    metrics = ApiMetrics(CollectorRegistry())
    outgoing = Outgoing(broker, metrics)
    running = asyncio.create_task(outgoing.run())
    outgoing.offer(command(1))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    outgoing.offer(command(2))
    await outgoing.stop()
    await running

    assert [message.message_id for message in broker.messages] == ["op_2.upload.1.1.1"]


async def test_more_than_can_wait_is_left_to_the_dispatcher() -> None:
    metrics = ApiMetrics(CollectorRegistry())
    outgoing = Outgoing(Broker(), metrics)

    for number in range(MOST_WAITING + 2):
        outgoing.offer(command(number))

    assert counted(metrics, "left") == 2
