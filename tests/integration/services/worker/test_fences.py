"""Workers that come too late, or twice: whoever was faster has decided, and nothing is done a second time."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path

import pytest
from nats.aio.msg import Msg
from structlog.testing import capture_logs

from shared.contracts.catalogue import Stream, durable_name
from shared.contracts.commands import VersionCommand
from shared.contracts.enums import EventType, OperationStatus, Step, VersionStatus
from shared.contracts.events import StepSucceeded, VersionIngested, VersionUploaded
from shared.contracts.ids import CommandId
from shared.database.database import Database
from shared.database.settings import DatabaseSettings
from shared.messaging.codec import Message, event_message, read_command
from shared.messaging.publisher import Publisher
from shared.messaging.settings import MessagingSettings
from shared.providers.ports import SpaceRef, VersionRef
from shared.providers.scripted.script import OBEDIENT, Call, Script
from shared.telemetry.stamps import utc_now
from tests.integration.lifecycle.bench import Bench, Watch
from tests.integration.services.worker.works import QUICK, Works, document_of, projector_at
from tests.support.eventually import until
from tests.support.messaging import messaging_settings
from tests.support.worker import Commands, Desk, Place, desk_at, source, worker_at, worker_process

SOON = timedelta(seconds=1)
"""How soon an unsettled command comes again in these tests."""
LONG = timedelta(seconds=60)
"""As long as a process may take to start on a busy machine."""


@pytest.fixture
def quick(nats_url: str) -> MessagingSettings:
    return messaging_settings(nats_url, ack_wait=SOON)


@pytest.fixture
async def works(
    quick: MessagingSettings,
    tmp_path: Path,
    sqlite: DatabaseSettings,
    opened: Callable[[DatabaseSettings], Database],
) -> AsyncIterator[Works]:
    """A projector and a desk; tests bring the workers."""
    place, database = Place(root=tmp_path, messaging=quick), opened(sqlite)
    async with desk_at(place) as desk, projector_at(desk, database, QUICK):
        yield Works(desk, Bench(database, watch=Watch(utc_now()), settings=QUICK))


async def test_a_worker_that_stood_still_while_another_finished_its_work_changes_nothing_when_it_wakes(
    works: Works, tmp_path: Path
) -> None:
    log = tmp_path / "worker.log"
    async with worker_at(works.desk.place):
        document_id = await works.uploaded(await works.space())
    works.provider.tell("pump.txt", Script(delays={Call.UPLOAD: timedelta(seconds=1)}))
    with worker_process(works.desk.place, log) as stalled:
        replaced = await works.bench.replace_with(document_id, 1, await works.file())
        version = await works.version_of(replaced)
        await works.operation_when(replaced.work.operation.id, lambda operation: operation.started_at is not None)
        stalled._send(signal.SIGSTOP)
        async with worker_at(works.desk.place):
            ended = await works.ended(replaced.work.operation.id)
            served = await works.bench.document(document_id)
            stalled._send(signal.SIGCONT)
            await until(lambda: "worker.delivery.fenced" in log.read_text(), within=LONG)
            await works.at_rest()
    assert (ended.status, served.active_version_id) == (OperationStatus.SUCCEEDED, version.id)
    assert await works.bench.operation(ended.id) == ended
    assert await works.bench.document(document_id) == served
    assert works.provider.calls(Call.START, version.id) == 1
    assert len(works.documents_at_provider(replaced)) == 1


async def taken(works: Works, step: Step) -> Msg:
    """The next command of a step, taken by somebody who does not settle it."""
    pull = await works.desk.connection.jetstream.pull_subscribe_bind(
        consumer=durable_name(step), stream=Stream.COMMANDS
    )
    (message,) = await pull.fetch(1, timeout=LONG.total_seconds())
    return message


async def test_the_late_success_and_the_late_acknowledgement_of_an_expired_delivery_change_nothing(
    works: Works,
) -> None:
    async with worker_at(works.desk.place):
        space_id = await works.space()
    accepted = await works.upload(space_id)
    stale = await taken(works, Step.UPLOAD)
    command = read_command(stale.data, stale.headers or {})
    assert isinstance(command, VersionCommand)
    async with worker_at(works.desk.place):
        ended = await works.ended(accepted.work.operation.id)
        (native,) = works.documents_at_provider(accepted)
        served = await works.bench.document(document_of(accepted).id)
        late = works.provider.plant(version_of(command))

        await report(works, command, VersionUploaded(native_document_id=late))
        await stale.ack_sync(timeout=5)

        await works.becomes("SELECT reason, native_document_id, status FROM purge", ("leftover", late, "DONE"))
        await works.at_rest()
    assert works.documents_at_provider(accepted) == [native]
    assert await works.bench.operation(ended.id) == ended
    assert await works.bench.document(served.id) == served
    told = "SELECT count(*) FROM audit_entry WHERE action = 'operation.result-discarded'"
    assert await works.bench.rows(told) == [(1,)]


def version_of(command: VersionCommand) -> VersionRef:
    space = SpaceRef(space_id=command.space_id, profile=command.profile, native_id=command.native_space_id)
    return VersionRef(space=space, version_id=command.version_id, source=command.source, native_id=None)


async def report(works: Works, command: VersionCommand, result: VersionUploaded) -> None:
    """Publish a success of the command, as a worker of its own does."""
    parsed = CommandId.parse(command.command_id)
    event = StepSucceeded(
        event_id=parsed.event("stale", 2),
        command_id=command.command_id,
        owner_id=parsed.owner,
        step=parsed.step,
        tenant_id=command.tenant_id,
        occurred_at=utc_now(),
        result=result,
    )
    publisher = Publisher(works.desk.connection, works.desk.place.messaging)
    await publisher.send(event_message(event, source="test", traceparent=None))


async def test_a_worker_whose_loop_was_blocked_writes_nothing_until_the_command_comes_again(
    quick: MessagingSettings, tmp_path: Path
) -> None:
    """Worker and test share a loop: while the test sleeps, no heartbeat is sent."""
    place = Place(root=tmp_path, messaging=quick)
    async with desk_at(place) as desk, worker_at(place):
        desk.provider.tell("pump.txt", Script(delays={Call.FIND: timedelta(milliseconds=300)}))
        with capture_logs() as logs:
            await desk.issue(Commands().reindex())
            await desk.events(bool)
            desk.provider.tell("pump.txt", OBEDIENT)
            time.sleep(1.2 * SOON.total_seconds())  # noqa: ASYNC251 - that is what is tested
            ended = await desk.ending()
        made = [desk.provider.calls(call, "ver_1") for call in (Call.UPLOAD, Call.START)]
    assert [entry["event"] for entry in logs if "fenced" in entry["event"]] == ["worker.delivery.fenced"]
    assert isinstance(ended, StepSucceeded)
    assert made == [1, 1]


async def test_two_workers_on_one_command_at_once_leave_one_document(quick: MessagingSettings, tmp_path: Path) -> None:
    place = Place(root=tmp_path, messaging=quick)
    async with desk_at(place) as desk, worker_at(place), worker_at(place):
        desk.provider.tell("pump.txt", Script(delays={Call.UPLOAD: timedelta(milliseconds=300)}))
        message = await desk.issue(Commands().reindex())
        await desk.publish(
            Message(subject=message.subject, body=message.body, headers=message.headers, message_id="again")
        )
        results = [event.result for event in await desk.endings(2) if isinstance(event, StepSucceeded)]
        natives = [result.native_document_id for result in results if isinstance(result, VersionIngested)]
        assert natives == ["scripted-1", "scripted-1"]
        assert desk.provider.calls(Call.UPLOAD, "ver_1") == 2
        assert len(desk.provider._store.all()) == 1


MOMENTS = {
    "before-upload.txt": Script(delays={Call.UPLOAD: timedelta(minutes=10)}),
    "before-start.txt": Script(delays={Call.START: timedelta(minutes=10)}),
    "in-ingest.txt": Script(ingest_time=timedelta(seconds=3)),
    "before-verifying.txt": Script(delays={Call.PROBE: timedelta(minutes=10)}),
}


async def test_whatever_moment_a_worker_is_killed_at_the_next_one_goes_on_and_repeats_nothing(
    quick: MessagingSettings, tmp_path: Path
) -> None:
    place = Place(root=tmp_path, messaging=quick)
    async with desk_at(place) as desk:
        for name, script in MOMENTS.items():
            desk.provider.tell(name, script)
        with worker_process(place, tmp_path / "worker.log") as first:
            for number, name in enumerate(MOMENTS, start=1):
                await desk.issue(Commands(number=number, file=source(name=name)).reindex())
            await until(lambda: progress(desk) == [(1, 0, 0), (2, 1, 0), (3, 1, 1), (3, 1, 1)], within=LONG)
            first.kill()
        for name, script in MOMENTS.items():
            desk.provider.tell(name, script.model_copy(update={"delays": {}}))
        async with worker_at(place):
            endings = await desk.endings(4)
        assert all(isinstance(event, StepSucceeded) for event in endings)
        assert [made[1:] for made in progress(desk)] == [(1, 1)] * 4
        assert len(desk.provider._store.all()) == 4


def progress(desk: Desk) -> list[tuple[int, int, int]]:
    """How far the provider was asked for each document: looks (at most three are counted), uploads, starts."""
    calls, names = desk.provider.calls, [f"ver_{number}" for number in range(1, 5)]
    return [(min(3, calls(Call.FIND, name)), calls(Call.UPLOAD, name), calls(Call.START, name)) for name in names]


async def test_events_of_an_older_attempt_move_nothing(works: Works) -> None:
    """The first attempt is given back as a crash; what its worker reports afterwards is not waited for any more."""
    async with worker_at(works.desk.place):
        space_id = await works.space()
    accepted = await works.upload(space_id)
    stale = await taken(works, Step.UPLOAD)
    command = read_command(stale.data, stale.headers or {})
    assert isinstance(command, VersionCommand)
    first = accepted.command.command_id
    await works.bench.tell(works.bench.event(first, EventType.INTERRUPTED, reason="crash"))

    await report(works, command, VersionUploaded(native_document_id="n-old"))
    await asyncio.sleep(0)
    async with worker_at(works.desk.place):
        ended = await works.ended(accepted.work.operation.id)
        await works.at_rest()
    assert (ended.status, ended.retry_count) == (OperationStatus.SUCCEEDED, 1)
    version = await works.version_of(accepted)
    assert (version.status, [version.native_document_id]) == (
        VersionStatus.READY,
        works.documents_at_provider(accepted),
    )
