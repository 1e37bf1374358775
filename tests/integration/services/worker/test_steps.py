"""Commands from a real broker to their last event, worked on by a worker in this process."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from shared.contracts.enums import EventType, FailureClass, FailureReason
from shared.contracts.events import (
    CancelTooLate,
    SpaceProvisioned,
    SpaceRemoved,
    StepCancelled,
    StepFailed,
    StepSucceeded,
    TargetPurged,
    VersionIngested,
    VersionUploaded,
)
from shared.messaging.cancellations import Cancellations
from shared.providers.scripted.script import Call, Faults, Script
from tests.support.eventually import until
from tests.support.messaging import messaging_settings
from tests.support.worker import Commands, Desk, Place, desk_at, source, worker_at


@pytest.fixture
async def desk(nats_url: str, tmp_path: Path) -> AsyncIterator[Desk]:
    place = Place(root=tmp_path, messaging=messaging_settings(nats_url))
    async with desk_at(place) as desk, worker_at(place):
        yield desk


async def test_an_upload_and_an_ingest_end_with_a_verified_document(desk: Desk) -> None:
    await desk.issue(Commands().upload())
    uploaded = await desk.ending()
    assert isinstance(uploaded, StepSucceeded)
    assert isinstance(uploaded.result, VersionUploaded)

    await desk.issue(Commands(native=uploaded.result.native_document_id).ingest())
    _, ingested = await desk.endings(2)
    assert isinstance(ingested, StepSucceeded)
    assert ingested.result == VersionIngested(
        native_document_id=uploaded.result.native_document_id, done=True, chunk_count=2, probe_found=True
    )
    await until_settled(desk)


async def until_settled(desk: Desk) -> None:
    for _ in range(200):
        if await desk.commands_left() == 0:
            return
    raise AssertionError("commands are left")


async def test_events_of_one_delivery_are_numbered_and_name_their_command(desk: Desk) -> None:
    await desk.issue(Commands().upload())
    started, ended = await desk.events(lambda found: len(found) == 2)
    assert (started.type, ended.type) == (EventType.STARTED, EventType.SUCCEEDED)
    assert started.command_id == ended.command_id == "op_1.upload.1.1"
    assert started.owner_id == "op_1"
    run = started.event_id.split(".")[4]
    assert (started.event_id, ended.event_id) == (f"op_1.upload.1.1.{run}.1", f"op_1.upload.1.1.{run}.2")


async def test_the_trace_of_a_command_goes_on_in_its_events(desk: Desk) -> None:
    message = await desk.issue(Commands().upload())
    await desk.ending()
    stored = await desk.connection.jetstream.get_msg("KNOWGATE_EVENTS", 2)
    assert (stored.headers or {})["traceparent"] == message.headers["traceparent"]


async def test_a_space_is_provisioned_and_removed(desk: Desk) -> None:
    await desk.issue(Commands(number=1).provision())
    provisioned = await desk.ending()
    await desk.issue(Commands(number=2).remove())
    _, removed = await desk.endings(2)
    assert isinstance(provisioned, StepSucceeded)
    assert isinstance(removed, StepSucceeded)
    assert provisioned.result == SpaceProvisioned(native_space_id="scripted-space-spc_1")
    assert removed.result == SpaceRemoved()


async def test_a_reindex_uploads_and_ingests_in_one_step(desk: Desk) -> None:
    await desk.issue(Commands().reindex())
    ended = await desk.ending()
    assert isinstance(ended, StepSucceeded)
    assert isinstance(ended.result, VersionIngested)
    assert ended.result.is_verified


async def test_an_ingest_uploads_again_what_the_provider_has_lost(desk: Desk) -> None:
    await desk.issue(Commands(native="scripted-999").ingest())
    ended = await desk.ending()
    assert isinstance(ended, StepSucceeded)
    assert isinstance(ended.result, VersionIngested)
    assert ended.result.native_document_id == "scripted-1"


async def test_progress_is_reported_as_the_provider_gives_it_backwards_too(desk: Desk) -> None:
    desk.provider.tell("pump.txt", Script(ingest_time=timedelta(seconds=1), percents=(40, 20)))
    await desk.issue(Commands().reindex())
    events = await desk.events(lambda found: found[-1].type is EventType.SUCCEEDED)
    reported = [event.percent for event in events if event.type is EventType.PROGRESSED]
    assert reported == [40, 20]


async def test_a_version_is_purged_and_a_purge_of_nothing_is_one_too(desk: Desk) -> None:
    await desk.issue(Commands().reindex())
    await desk.ending()
    await desk.issue(Commands(number=1).purge())
    await desk.issue(Commands(number=7).purge())
    endings = await desk.endings(3)
    assert [type(ending) for ending in endings[1:]] == [TargetPurged, TargetPurged]
    assert {ending.owner_id for ending in endings[1:]} == {"pur_1", "pur_7"}


async def test_a_file_is_purged_and_its_second_purge_ends_the_same(desk: Desk) -> None:
    await desk.issue(Commands(number=1).purge_file())
    await desk.issue(Commands(number=2).purge_file())
    endings = await desk.endings(2)
    assert [type(ending) for ending in endings] == [TargetPurged, TargetPurged]
    assert not (desk.place.objects / "objects/1").exists()


@pytest.mark.parametrize(
    ("script", "failure_class", "reason"),
    [
        (Script(rejects=FailureReason.FILE_ENCRYPTED), FailureClass.PERMANENT, FailureReason.FILE_ENCRYPTED),
        (
            Script(failed_ingests=9, failure=FailureReason.PARSER_CRASHED),
            FailureClass.TRANSIENT,
            FailureReason.PARSER_CRASHED,
        ),
        (Script(failed_ingests=9), FailureClass.TRANSIENT, FailureReason.INTERNAL_ERROR),
        (
            Script(faults={Call.UPLOAD: Faults(unavailable=9)}),
            FailureClass.TRANSIENT,
            FailureReason.PROVIDER_UNAVAILABLE,
        ),
    ],
)
async def test_a_failure_tells_its_class_and_reason(
    desk: Desk, script: Script, failure_class: FailureClass, reason: FailureReason
) -> None:
    desk.provider.tell("pump.txt", script)
    await desk.issue(Commands().reindex())
    ended = await desk.ending()
    assert isinstance(ended, StepFailed)
    assert (ended.failure_class, ended.reason) == (failure_class, reason)
    await until_settled(desk)


async def test_a_throttling_provider_says_when_to_come_back(desk: Desk) -> None:
    faults = Faults(throttled=9, retry_after=timedelta(seconds=12))
    desk.provider.tell("pump.txt", Script(faults={Call.UPLOAD: faults}))
    await desk.issue(Commands().upload())
    ended = await desk.ending()
    assert isinstance(ended, StepFailed)
    assert (ended.failure_class, ended.retry_after_seconds) == (FailureClass.THROTTLED, 12.0)


async def test_a_stored_file_that_is_gone_fails_for_good(desk: Desk) -> None:
    await desk.issue(Commands(file=source(key="objects/none")).upload())
    ended = await desk.ending()
    assert isinstance(ended, StepFailed)
    assert ended.reason is FailureReason.FILE_MISSING


async def test_a_lost_answer_of_an_upload_is_made_up_by_the_next_attempt_without_a_second_document(desk: Desk) -> None:
    desk.provider.tell("pump.txt", Script(faults={Call.UPLOAD: Faults(lost=1)}))
    await desk.issue(Commands(attempt=1).upload())
    await desk.issue(Commands(attempt=2).upload())
    endings = await desk.endings(2)
    assert {ending.type for ending in endings} == {EventType.FAILED, EventType.SUCCEEDED}
    (succeeded,) = [ending for ending in endings if isinstance(ending, StepSucceeded)]
    assert succeeded.result == VersionUploaded(native_document_id="scripted-1")


async def test_an_empty_result_is_told_as_it_is(desk: Desk) -> None:
    desk.provider.tell("pump.txt", Script(chunks=0))
    await desk.issue(Commands().reindex())
    ended = await desk.ending()
    assert isinstance(ended, StepSucceeded)
    assert isinstance(ended.result, VersionIngested)
    assert not ended.result.is_verified


async def test_a_step_that_takes_too_long_stops_the_provider_and_fails(desk: Desk) -> None:
    desk.provider.tell("pump.txt", Script(ingest_time=timedelta(hours=1)))
    await desk.issue(Commands(deadline_seconds=1).reindex())
    ended = await desk.ending()
    assert isinstance(ended, StepFailed)
    assert (ended.failure_class, ended.reason) == (FailureClass.TRANSIENT, FailureReason.STEP_DEADLINE)
    assert desk.provider.calls(Call.STOP, "ver_1") == 1


async def test_work_that_is_cancelled_while_it_runs_is_stopped_and_removed(desk: Desk) -> None:
    desk.provider.tell("pump.txt", Script(ingest_time=timedelta(hours=1)))
    command = Commands().reindex()
    await desk.issue(command)
    await until(lambda: desk.provider.calls(Call.START, "ver_1") == 1)
    await Cancellations(desk.connection).announce(command.operation_id)
    assert isinstance(await desk.ending(), StepCancelled)
    assert (desk.provider.calls(Call.STOP, "ver_1"), desk.provider.calls(Call.REMOVE, "ver_1")) == (1, 1)


async def test_work_that_was_cancelled_before_is_not_begun(desk: Desk) -> None:
    command = Commands().reindex()
    await Cancellations(desk.connection).announce(command.operation_id)
    await desk.issue(command)
    assert isinstance(await desk.ending(), StepCancelled)
    assert desk.provider.calls(Call.UPLOAD, "ver_1") == 0


async def test_a_provider_that_does_not_stop_is_followed_to_its_end(desk: Desk) -> None:
    desk.provider.tell("pump.txt", Script(ingest_time=timedelta(seconds=3), ignores_stop=True))
    command = Commands().reindex()
    await desk.issue(command)
    await until(lambda: desk.provider.calls(Call.START, "ver_1") == 1)
    await Cancellations(desk.connection).announce(command.operation_id)
    ended = await desk.ending()
    assert isinstance(ended, StepSucceeded)
    assert desk.provider.calls(Call.START, "ver_1") == 1


async def test_a_cancel_command_removes_what_there_is(desk: Desk) -> None:
    await desk.issue(Commands().upload())
    await desk.ending()
    await desk.issue(Commands().cancel())
    _, cancelled = await desk.endings(2)
    assert isinstance(cancelled, StepCancelled)
    assert desk.provider.calls(Call.REMOVE, "ver_1") == 1


async def test_a_cancel_of_what_is_done_comes_too_late_and_removes_nothing(desk: Desk) -> None:
    await desk.issue(Commands().reindex())
    await desk.ending()
    await desk.issue(Commands().cancel())
    _, late = await desk.endings(2)
    assert isinstance(late, CancelTooLate)
    assert desk.provider.calls(Call.REMOVE, "ver_1") == 0


async def test_a_cancel_of_what_never_was_is_confirmed(desk: Desk) -> None:
    await desk.issue(Commands().cancel())
    assert isinstance(await desk.ending(), StepCancelled)
