"""Subscribes to the commands of each step: several subscribers on one durable, each with one command at a time.

A subscriber that worked on several at once would fetch ahead, and what it fetched would wait with its clock running.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta

from faststream.message import StreamMessage
from faststream.nats import JStream, NatsBroker, NatsMessage, PullSub
from nats.aio.msg import Msg

from shared.contracts.catalogue import Stream, command_filter, durable_name
from shared.contracts.enums import Step

Take = Callable[[Step, Msg], Awaitable[None]]


def subscribe(broker: NatsBroker, slots: Mapping[Step, int], take: Take, *, fetch_timeout: timedelta) -> None:
    """Register a subscriber for every slot; they begin when the broker is started."""
    stream = JStream(Stream.COMMANDS.value, declare=False)
    pull = PullSub(batch_size=1, timeout=fetch_timeout.total_seconds())
    for step, count in slots.items():
        for _ in range(count):
            broker.subscriber(
                command_filter(step),
                stream=stream,
                durable=durable_name(step),
                pull_sub=pull,
                decoder=_as_it_came,
                no_reply=True,
            )(_consumer(step, take))


def _consumer(step: Step, take: Take) -> Callable[[NatsMessage], Awaitable[None]]:
    async def consume(message: NatsMessage) -> None:
        await take(step, message.raw_message)

    return consume


async def _as_it_came(message: StreamMessage[Msg]) -> StreamMessage[Msg]:
    """Reading the body is the handler's matter: an error here would settle nothing."""
    return message
