"""One delivery from arrival to settlement, without a broker."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from services.worker.cancelled import CancelledOperations
from services.worker.handling import Handler
from services.worker.hands import Hands, Stop
from services.worker.heartbeat import Heartbeat
from services.worker.metrics import WorkerMetrics
from services.worker.settings import WorkerSettings
from services.worker.workshop import Workshop
from shared.contracts.commands import AnyCommand, ProviderKind
from shared.contracts.enums import EventType, FailureReason, InterruptReason, Step
from shared.contracts.events import StepFailed, StepInterrupted
from shared.contracts.ids import CommandId, OperationId
from shared.messaging.codec import Message, command_message
from shared.messaging.watchdog import Activity
from shared.providers.ports import ProviderWrites
from shared.providers.scripted.provider import ScriptedProvider
from shared.providers.scripted.script import Call, Script
from tests.support.clocks import Seconds, WallClock
from tests.support.eventually import until
from tests.support.scripted import kept
from tests.support.worker import Commands
from tests.unit.services.worker.fakes import PACE, Broker, Handed, Removed


class Bench:
    """A handler on fakes. The heartbeat's clock stands until a test moves it."""

    def __init__(
        self,
        *,
        broker: Broker | None = None,
        provider: ProviderWrites | None = None,
        tell_after: timedelta = timedelta(0),
    ) -> None:
        self.broker = broker or Broker()
        self.scripted = kept(ScriptedProvider())
        self.files = Removed()
        self.hands = Hands()
        self.registry = CollectorRegistry()
        self.monotonic = Seconds()
        self.heartbeat = Heartbeat(self.flush, ack_wait=timedelta(seconds=30), monotonic=self.monotonic)
        slots = WorkerSettings().slots
        self.activity = Activity(slots)
        opened = provider or self.scripted

        def open_provider(kind: ProviderKind) -> ProviderWrites:
            assert kind is ProviderKind.SCRIPTED
            return opened

        self.handler = Handler(
            workshop=Workshop(
                provider=open_provider,
                files=self.files,
                cancelled=CancelledOperations(self.nothing_said, generation=lambda: 0),
                pace=PACE,
                stop_patience=timedelta(seconds=1),
                tell_after=tell_after,
            ),
            publisher=self.broker,
            heartbeat=self.heartbeat,
            hands=self.hands,
            activity=self.activity,
            metrics=WorkerMetrics(self.registry, slots),
            clock=WallClock(),
            progress_every=timedelta(0),
        )

    async def flush(self, within: timedelta) -> None:
        assert within > timedelta(0)

    async def nothing_said(self) -> frozenset[OperationId]:
        return frozenset()

    async def take(self, command: AnyCommand, *, number: int = 1) -> Handed:
        delivery = handed(command, number=number)
        await self.handler.take(CommandId.parse(command.command_id).step, delivery)
        return delivery

    def counted(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(name, labels) or 0.0


def handed(command: AnyCommand, *, number: int = 1) -> Handed:
    step = CommandId.parse(command.command_id).step
    return Handed(command_message(command, step=step, source="test", traceparent=None), number=number)


class Broken(ScriptedProvider):
    """A provider with a bug."""

    async def find(self, version: object) -> None:
        raise ZeroDivisionError


async def test_a_command_is_answered_and_then_acknowledged() -> None:
    bench = Bench()
    delivery = await bench.take(Commands().upload())
    assert [event.type for event in bench.broker.events] == [EventType.STARTED, EventType.SUCCEEDED]
    assert delivery.settled == ["ack"]
    assert bench.counted("knowgate_worker_answers_total", step="upload", outcome="succeeded") == 1
    assert bench.activity.is_idle(Step.UPLOAD)


async def test_a_step_that_ends_at_once_is_not_told_to_have_begun() -> None:
    bench = Bench(tell_after=timedelta(seconds=5))
    await bench.take(Commands().upload())
    assert [event.type for event in bench.broker.events] == [EventType.SUCCEEDED]


async def test_a_step_that_takes_a_while_is_told_to_have_begun() -> None:
    bench = Bench(tell_after=timedelta(milliseconds=1))
    bench.scripted.tell("pump.txt", Script(delays={Call.UPLOAD: timedelta(milliseconds=50)}))
    await bench.take(Commands().upload())
    assert [event.type for event in bench.broker.events] == [EventType.STARTED, EventType.SUCCEEDED]


async def test_every_delivery_has_a_run_of_its_own() -> None:
    bench = Bench()
    await bench.take(Commands().upload())
    await bench.take(Commands().upload(), number=2)
    assert len({event.event_id for event in bench.broker.events}) == 4
    assert bench.counted("knowgate_worker_redeliveries_total", step="upload") == 1


async def test_a_bug_in_a_provider_is_a_failure_of_its_own_command() -> None:
    bench = Bench(provider=kept(Broken()))
    delivery = await bench.take(Commands().ingest())
    ended = bench.broker.events[-1]
    assert isinstance(ended, StepFailed)
    assert ended.reason is FailureReason.INTERNAL_ERROR
    assert delivery.settled == ["ack"]


async def test_an_answer_that_is_not_acknowledged_is_sent_again_as_the_same_event() -> None:
    bench = Bench(broker=Broker(failures=1))
    delivery = await bench.take(Commands().purge_file())
    assert [event.type for event in bench.broker.events] == [EventType.STARTED, EventType.PURGED]
    assert bench.broker.events[-1].event_id.endswith(".2")
    assert delivery.settled == ["ack"]


async def test_an_answer_that_cannot_be_given_while_the_command_is_ours_is_given_up() -> None:
    bench = Bench()
    bench.broker = Broker(failures=99, on_failure=lambda: bench_loses(bench))
    bench.handler = replace(bench.handler, publisher=bench.broker)
    delivery = await bench.take(Commands().upload())
    assert delivery.settled == []
    assert bench.counted("knowgate_worker_fenced_total", step="upload") == 1


def bench_loses(bench: Bench) -> None:
    """The broker's time for every delivery is up."""
    bench.monotonic.now += 31
    for lease in tuple(bench.heartbeat._leases):
        lease.expire()


async def test_the_fourth_delivery_is_answered_as_a_crash_without_any_work() -> None:
    bench = Bench()
    delivery = await bench.take(Commands().upload(), number=4)
    (ended,) = bench.broker.events
    assert isinstance(ended, StepInterrupted)
    assert ended.reason is InterruptReason.CRASH
    assert delivery.settled == ["ack"]
    assert bench.scripted.calls(Call.UPLOAD, "ver_1") == 0


async def test_a_delivery_that_waited_while_the_process_stood_still_changes_nothing() -> None:
    bench = Bench()
    bench.monotonic.now += 16
    delivery = await bench.take(Commands().upload())
    assert delivery.settled == []
    assert bench.scripted.calls(Call.UPLOAD, "ver_1") == 0
    assert [event.type for event in bench.broker.events] == [EventType.STARTED]


async def stopped_by(bench: Bench, tell: Callable[[], None]) -> Handed:
    """An ingest that would take an hour, and is told to stop once it has begun."""
    bench.scripted.tell("pump.txt", Script(ingest_time=timedelta(hours=1)))
    delivery = handed(Commands().reindex())
    work = asyncio.create_task(bench.handler.take(Step.REINDEX, delivery))
    await until(lambda: bench.scripted.calls(Call.START, "ver_1") == 1)
    tell()
    await work
    return delivery


async def test_a_shutdown_hands_back_what_is_under_way_and_leaves_the_provider_alone() -> None:
    bench = Bench()
    delivery = await stopped_by(bench, bench.hands.shut_down)
    ended = bench.broker.events[-1]
    assert isinstance(ended, StepInterrupted)
    assert ended.reason is InterruptReason.SHUTDOWN
    assert delivery.settled == ["ack"]
    assert bench.scripted.calls(Call.STOP, "ver_1") == 0


async def test_what_arrives_during_a_shutdown_is_handed_back_at_once() -> None:
    bench = Bench()
    bench.hands.shut_down()
    await bench.take(Commands().upload())
    assert isinstance(bench.broker.events[-1], StepInterrupted)
    assert bench.scripted.calls(Call.UPLOAD, "ver_1") == 0


async def test_a_cancel_stops_the_provider_and_removes_the_document() -> None:
    bench = Bench()
    delivery = await stopped_by(bench, lambda: bench.hands.cancel(OperationId("op_1")))
    assert bench.broker.events[-1].type is EventType.CANCELLED
    assert bench.scripted.calls(Call.REMOVE, "ver_1") == 1
    assert delivery.settled == ["ack"]


async def test_a_cancel_of_another_operation_is_none_of_its_business() -> None:
    bench = Bench()

    def tell() -> None:
        bench.hands.cancel(OperationId("op_2"))
        bench.hands.shut_down()

    await stopped_by(bench, tell)
    assert isinstance(bench.broker.events[-1], StepInterrupted)


async def test_a_delivery_that_is_lost_is_left_without_an_answer() -> None:
    bench = Bench()
    delivery = await stopped_by(bench, lambda: bench_loses(bench))
    assert [event.type for event in bench.broker.events] == [EventType.STARTED]
    assert delivery.settled == []


async def test_what_cannot_be_read_is_kept_answered_and_terminated_in_this_order() -> None:
    bench = Bench()
    good = command_message(Commands().upload(), step=Step.UPLOAD, source="test", traceparent=None)
    delivery = Handed(Message(subject=good.subject, body=b"{", headers=good.headers, message_id=""))
    await bench.handler.take(Step.UPLOAD, delivery)
    assert [message.subject for message in bench.broker.messages] == [
        "knowgate.deadletter.command",
        "knowgate.event.failed.op_1",
    ]
    assert delivery.settled == ["terminate"]


async def test_what_cannot_be_kept_is_not_terminated() -> None:
    bench = Bench(broker=Broker(failures=1))
    delivery = Handed(Message(subject="", body=b"{", headers={}, message_id=""))
    await bench.handler.take(Step.UPLOAD, delivery)
    assert delivery.settled == []
    assert bench.activity.is_idle(Step.UPLOAD)


async def test_the_most_urgent_reason_to_stop_counts() -> None:
    hands = Hands()
    with hands.take(CommandId("op_1", Step.UPLOAD, 1, 1), OperationId("op_1")) as hand:
        hands.cancel(OperationId("op_1"))
        hands.shut_down()
        assert hand.reason() is Stop.SHUTDOWN
        hand.tell(Stop.LOST)
        assert hand.reason() is Stop.LOST


def of_a_newer_release(headers: dict[str, str] | None = None) -> Handed:
    """A command whose body only another release can read."""
    good = command_message(Commands().upload(), step=Step.UPLOAD, source="test", traceparent=None)
    body = b'{"schemaVersion": 2, "kind": "UploadVersion"}'
    known = good.headers if headers is None else headers
    return Handed(Message(subject=good.subject, body=body, headers=known, message_id=""), number=4)


async def test_a_command_of_a_newer_release_is_handed_back_uncounted() -> None:
    bench = Bench()
    delivery = of_a_newer_release()
    with capture_logs() as logs:
        await replace(bench.handler, hand_back_after=timedelta(0)).take(Step.UPLOAD, delivery)
    (event,) = bench.broker.events
    assert isinstance(event, StepInterrupted)
    assert (event.reason, event.command_id, event.tenant_id) == (InterruptReason.SHUTDOWN, "op_1.upload.1.1", "acme")
    assert delivery.settled == ["ack"]
    assert [(log["log_level"], log["event"]) for log in logs] == [("warning", "worker.command.newer")]
    assert bench.registry.get_sample_value("knowgate_worker_newer_commands_total", {"step": "upload"}) == 1


async def test_a_command_of_a_newer_release_is_kept_for_a_while_with_its_heartbeat() -> None:
    bench = Bench()
    delivery = of_a_newer_release()
    taking = asyncio.create_task(replace(bench.handler, hand_back_after=timedelta(hours=1)).take(Step.UPLOAD, delivery))
    await until(lambda: bench.hands.commands() == ("op_1.upload.1.1",))
    bench.monotonic.now += 11
    await bench.heartbeat.tick()
    assert (delivery.beats, delivery.settled) == (1, [])
    bench.hands.shut_down()
    await taking
    assert delivery.settled == ["ack"]


async def test_a_newer_body_of_which_nobody_knows_whose_it_is_is_buried() -> None:
    bench = Bench()
    delivery = of_a_newer_release(headers={})
    await bench.handler.take(Step.UPLOAD, delivery)
    assert [message.subject for message in bench.broker.messages] == ["knowgate.deadletter.command"]
    assert delivery.settled == ["terminate"]


async def test_hands_know_which_commands_they_hold() -> None:
    hands = Hands()
    assert hands.commands() == ()
    with (
        hands.take(CommandId("op_2", Step.INGEST, 1, 1), None),
        hands.take(CommandId("op_1", Step.UPLOAD, 2, 1), OperationId("op_1")),
    ):
        assert hands.commands() == ("op_1.upload.2.1", "op_2.ingest.1.1")
    assert hands.commands() == ()
