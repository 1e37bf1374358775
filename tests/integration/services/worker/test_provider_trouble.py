"""A provider in trouble, through worker and projector: what ends how, what is counted, and what is never done twice."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from services.worker.settings import WorkerSettings
from shared.contracts.documents import DocumentLockRequest
from shared.contracts.enums import EventType, FailureReason, OperationStatus, VersionStatus
from shared.contracts.events import AnyEvent
from shared.contracts.ids import DocumentId
from shared.database.database import Database
from shared.database.settings import DatabaseSettings
from shared.domain.errors import RetryLimitReached
from shared.lifecycle.acceptance import Accepted
from shared.lifecycle.reindex_document import reindex_document
from shared.lifecycle.settings import PipelineSettings
from shared.messaging.codec import Message
from shared.providers.ports import Question, SpaceRef
from shared.providers.scripted.script import Call, Faults, Script
from tests.integration.services.worker.works import QUICK, Works, document_of, works_at
from tests.support.messaging import messaging_settings
from tests.support.worker import PROFILE, Place, quick_worker

Opener = Callable[[DatabaseSettings], Database]
Open = Callable[..., AbstractAsyncContextManager[Works]]

ALWAYS = 1000


@pytest.fixture
def open_works(nats_url: str, tmp_path: Path, sqlite: DatabaseSettings, opened: Opener) -> Open:
    place = Place(root=tmp_path, messaging=messaging_settings(nats_url))
    database = opened(sqlite)

    def open_them(
        pipeline: PipelineSettings = QUICK, worker: WorkerSettings | None = None
    ) -> AbstractAsyncContextManager[Works]:
        return works_at(place, database, pipeline, worker)

    return open_them


@pytest.fixture
async def works(open_works: Open) -> AsyncIterator[Works]:
    async with open_works() as works:
        yield works


def faulty(call: Call, **faults: object) -> Script:
    """A provider of which the first calls of one kind go wrong."""
    return Script(faults={call: Faults.model_validate(faults)})


def made(works: Works, call: Call, accepted: Accepted) -> int:
    """How often a call was made for the version."""
    version = accepted.work.version
    assert version is not None
    return works.provider.calls(call, version.id)


# --- errors, and what is repeated after them -------------------------------------------------------


async def test_errors_are_counted_and_the_document_succeeds_in_the_end(works: Works) -> None:
    works.provider.tell("pump.txt", faulty(Call.UPLOAD, unavailable=3))
    accepted = await works.upload(await works.space())
    operation = await works.ended(accepted.work.operation.id)
    assert (operation.status, operation.retry_count) == (OperationStatus.SUCCEEDED, 3)
    assert operation.last_retry_at is not None
    assert operation.next_retry_at is None
    assert made(works, Call.UPLOAD, accepted) == 4


async def test_while_a_retry_is_waited_for_one_sees_its_number_and_both_times(works: Works) -> None:
    works.provider.tell("pump.txt", faulty(Call.UPLOAD, throttled=1, retry_after=timedelta(hours=1)))
    accepted = await works.upload(await works.space())
    operation = await works.operation_when(accepted.work.operation.id, lambda found: found.retry_count == 1)
    assert operation.status is OperationStatus.RUNNING
    assert operation.last_retry_at is not None
    assert operation.next_retry_at == operation.last_retry_at + timedelta(hours=1)


async def test_three_refusals_for_haste_are_waited_out_as_long_as_the_provider_says(works: Works) -> None:
    wait = timedelta(milliseconds=700)
    works.provider.tell("pump.txt", faulty(Call.UPLOAD, throttled=3, retry_after=wait))
    accepted = await works.upload(await works.space())
    operation = await works.ended(accepted.work.operation.id)
    assert (operation.status, operation.retry_count) == (OperationStatus.SUCCEEDED, 3)
    told = await works.desk.events(lambda found: len(of(found, operation.id, EventType.FAILED)) == 3)
    failed = [event.occurred_at for event in of(told, operation.id, EventType.FAILED)]
    assert all(later - earlier >= wait for earlier, later in pairwise(failed))


def of(events: Sequence[AnyEvent], owner: str, kind: EventType) -> list[AnyEvent]:
    return [event for event in events if (event.owner_id, event.type) == (owner, kind)]


async def test_when_only_the_last_look_fails_nothing_before_it_is_done_again(works: Works) -> None:
    works.provider.tell("pump.txt", faulty(Call.PROBE, unavailable=2))
    accepted = await works.upload(await works.space())
    operation = await works.ended(accepted.work.operation.id)
    assert (operation.status, operation.retry_count) == (OperationStatus.SUCCEEDED, 2)
    assert made(works, Call.UPLOAD, accepted) == 1
    assert made(works, Call.START, accepted) == 1


async def test_an_ingest_that_failed_is_started_again_on_the_document_that_is_there(works: Works) -> None:
    works.provider.tell("pump.txt", Script(failed_ingests=2))
    accepted = await works.upload(await works.space())
    operation = await works.ended(accepted.work.operation.id)
    assert (operation.status, operation.retry_count) == (OperationStatus.SUCCEEDED, 2)
    assert made(works, Call.UPLOAD, accepted) == 1
    assert made(works, Call.START, accepted) == 3
    assert len(works.documents_at_provider(accepted)) == 1


async def test_the_sixth_failure_ends_it_with_five_retries(works: Works) -> None:
    works.provider.tell("pump.txt", faulty(Call.UPLOAD, unavailable=ALWAYS))
    accepted = await works.upload(await works.space())
    operation = await works.ended(accepted.work.operation.id)
    assert (operation.status, operation.retry_count) == (OperationStatus.FAILED, 5)
    assert operation.is_retryable
    assert made(works, Call.UPLOAD, accepted) == 6
    assert (await works.version_of(accepted)).failure_reason is FailureReason.PROVIDER_UNAVAILABLE


async def test_retries_are_counted_over_all_steps_together(works: Works) -> None:
    faults = {Call.UPLOAD: Faults(unavailable=3), Call.START: Faults(unavailable=ALWAYS)}
    works.provider.tell("pump.txt", Script(faults=faults))
    accepted = await works.upload(await works.space())
    operation = await works.ended(accepted.work.operation.id)
    assert (operation.status, operation.retry_count) == (OperationStatus.FAILED, 5)
    assert (made(works, Call.UPLOAD, accepted), made(works, Call.START, accepted)) == (4, 3)


PERMANENT = (
    FailureReason.FILE_ENCRYPTED,
    FailureReason.FILE_EMPTY,
    FailureReason.FILE_SCANNED,
    FailureReason.FILE_UNSUPPORTED,
    FailureReason.FILE_CORRUPT,
    FailureReason.FILE_TOO_LARGE,
)


async def test_what_can_never_succeed_fails_at_once_and_for_good(works: Works) -> None:
    space_id = await works.space()
    for reason in PERMANENT:
        works.provider.tell(f"{reason}.txt", Script(failed_ingests=ALWAYS, failure=reason))
        accepted = await works.upload(space_id, f"{reason}.txt")
        operation = await works.ended(accepted.work.operation.id)
        assert (operation.status, operation.retry_count, operation.is_retryable) == (OperationStatus.FAILED, 0, False)
        assert made(works, Call.START, accepted) == 1
        assert (await works.version_of(accepted)).failure_reason is reason


async def test_it_can_be_retried_by_hand_three_times_and_no_step_that_succeeded_is_repeated(works: Works) -> None:
    works.provider.tell("pump.txt", Script(failed_ingests=ALWAYS))
    accepted = await works.upload(await works.space())
    root = newest = (await works.ended(accepted.work.operation.id)).id
    for number in (1, 2, 3):
        retried = await works.bench.retry(newest)
        child = await works.ended(retried.work.operation.id)
        assert (child.parent_id, child.root_id, child.manual_attempt) == (newest, root, number)
        assert (child.status, child.retry_count) == (OperationStatus.FAILED, 5)
        assert child.is_retryable is (number < 3)
        newest = child.id
    with pytest.raises(RetryLimitReached):
        await works.bench.retry(newest)
    assert made(works, Call.UPLOAD, accepted) == 1
    assert made(works, Call.START, accepted) == 4 * 6
    assert len(works.documents_at_provider(accepted)) == 1


# --- lost answers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [Call.UPLOAD, Call.START, Call.FIND, Call.PROBE])
async def test_answers_lost_after_the_effect_leave_one_document_at_the_provider(works: Works, call: Call) -> None:
    works.provider.tell("pump.txt", faulty(call, lost=1))
    accepted = await works.upload(await works.space())
    operation = await works.ended(accepted.work.operation.id)
    assert (operation.status, operation.retry_count) == (OperationStatus.SUCCEEDED, 1)
    assert len(works.documents_at_provider(accepted)) == 1
    (document,) = works.provider._store.by_prefix(accepted.work.space.id, (await works.version_of(accepted)).id)
    assert document.ingests == 1


async def test_a_lost_answer_of_a_provisioning_makes_no_second_space(works: Works) -> None:
    accepted = await works.bench.create_space("lost")
    works.provider.tell(accepted.work.space.id, faulty(Call.PROVISION, lost=1))
    operation = await works.ended(accepted.work.operation.id)
    assert operation.status is OperationStatus.SUCCEEDED
    assert works.provider._store._database.execute("SELECT count(*) FROM space").fetchone() == (1,)


# --- results that are not there yet, or never ------------------------------------------------------


async def test_a_candidate_without_chunks_is_waited_for_while_the_provider_counts(open_works: Open) -> None:
    worker = quick_worker().model_copy(update={"verify_within": timedelta(seconds=30)})
    async with open_works(worker=worker) as works:
        works.provider.tell("pump.txt", Script(chunks_lag=timedelta(seconds=5)))
        accepted = await works.upload(await works.space())
        operation = await works.ended(accepted.work.operation.id)
        assert (operation.status, operation.retry_count) == (OperationStatus.SUCCEEDED, 0)
        assert made(works, Call.REMOVE, accepted) == 0
        assert (await works.version_of(accepted)).status is VersionStatus.READY


async def test_a_candidate_whose_chunks_come_later_than_anybody_waits_is_kept_and_looked_at_again(
    open_works: Open,
) -> None:
    slow = QUICK.model_copy(update={"retry_first_wait": timedelta(seconds=1)})
    async with open_works(slow) as works:
        works.provider.tell("pump.txt", Script(chunks_lag=timedelta(seconds=2)))
        accepted = await works.upload(await works.space())
        operation = await works.ended(accepted.work.operation.id)
        assert operation.status is OperationStatus.SUCCEEDED
        assert 1 <= operation.retry_count <= 5
        assert (made(works, Call.START, accepted), made(works, Call.REMOVE, accepted)) == (1, 0)


async def test_a_result_that_stays_empty_fails_as_not_verified_and_may_be_retried(works: Works) -> None:
    works.provider.tell("pump.txt", Script(chunks=0))
    accepted = await works.upload(await works.space())
    operation = await works.ended(accepted.work.operation.id)
    assert (operation.status, operation.retry_count) == (OperationStatus.FAILED, 5)
    assert operation.is_retryable
    version = await works.version_of(accepted)
    assert (version.status, version.failure_reason) == (VersionStatus.FAILED, FailureReason.NOT_VERIFIED)


async def test_two_answers_that_disagree_end_with_a_reason(works: Works) -> None:
    """The state says done, and reading finds nothing, for ever."""
    works.provider.tell("pump.txt", faulty(Call.PROBE, absent=ALWAYS))
    accepted = await works.upload(await works.space())
    operation = await works.ended(accepted.work.operation.id)
    assert (operation.status, operation.is_retryable) == (OperationStatus.FAILED, True)
    assert (await works.version_of(accepted)).failure_reason is FailureReason.NOT_VERIFIED


@pytest.mark.parametrize("call", [Call.FIND, Call.START])
async def test_a_document_that_the_provider_has_forgotten_ends_with_a_reason(works: Works, call: Call) -> None:
    """It takes the upload, and then never knows it."""
    works.provider.tell("pump.txt", faulty(call, absent=ALWAYS))
    accepted = await works.upload(await works.space())
    operation = await works.ended(accepted.work.operation.id)
    assert (operation.status, operation.retry_count) == (OperationStatus.FAILED, 5)
    assert operation.is_retryable
    assert (await works.version_of(accepted)).failure_reason is FailureReason.PROVIDER_UNAVAILABLE


@pytest.mark.parametrize("call", [Call.FIND, Call.START])
async def test_a_document_that_the_provider_has_forgotten_for_a_while_succeeds(works: Works, call: Call) -> None:
    works.provider.tell("pump.txt", faulty(call, absent=2))
    accepted = await works.upload(await works.space())
    operation = await works.ended(accepted.work.operation.id)
    assert operation.status is OperationStatus.SUCCEEDED
    assert len(works.documents_at_provider(accepted)) == 1


# --- progress and deadlines ------------------------------------------------------------------------


async def test_progress_that_runs_backwards_never_lowers_what_is_shown(works: Works) -> None:
    works.provider.tell("pump.txt", Script(ingest_time=timedelta(seconds=2), percents=(70, 30, 10, 90)))
    accepted = await works.upload(await works.space())
    await works.ended(accepted.work.operation.id)
    told = await works.desk.events(lambda found: found[-1].type is EventType.SUCCEEDED)
    percents = [event.percent for event in told if event.type is EventType.PROGRESSED]
    assert sorted(percents) != percents
    assert (await works.version_of(accepted)).progress_percent == max(percents)


async def test_an_ingest_that_is_stuck_is_stopped_at_its_deadline_and_succeeds_when_tried_again(
    open_works: Open,
) -> None:
    limited = QUICK.model_copy(update={"ingest_deadline": timedelta(seconds=1)})
    async with open_works(limited) as works:
        works.provider.tell("pump.txt", Script(ingest_time=timedelta(hours=1), percents=(99,)))
        accepted = await works.upload(await works.space())
        waiting = await works.operation_when(accepted.work.operation.id, lambda found: found.retry_count == 1)
        assert not waiting.is_over
        assert made(works, Call.STOP, accepted) >= 1
        works.provider.tell("pump.txt", Script())
        operation = await works.ended(accepted.work.operation.id)
        assert operation.status is OperationStatus.SUCCEEDED
        assert made(works, Call.UPLOAD, accepted) == 1


async def test_an_ingest_that_is_stuck_for_ever_fails_for_its_deadline(open_works: Open) -> None:
    limited = QUICK.model_copy(update={"ingest_deadline": timedelta(milliseconds=300)})
    async with open_works(limited) as works:
        works.provider.tell("pump.txt", Script(ingest_time=timedelta(hours=1), percents=(99,)))
        accepted = await works.upload(await works.space())
        operation = await works.ended(accepted.work.operation.id)
        assert (operation.status, operation.retry_count) == (OperationStatus.FAILED, 5)
        version = await works.version_of(accepted)
        assert (version.failure_reason, version.is_retryable) == (FailureReason.STEP_DEADLINE, True)
        assert (made(works, Call.START, accepted), made(works, Call.STOP, accepted)) == (6, 6)


async def test_an_ingest_that_failed_and_turns_out_done_is_not_done_again(open_works: Open) -> None:
    slow = QUICK.model_copy(update={"retry_first_wait": timedelta(seconds=1)})
    async with open_works(slow) as works:
        works.provider.tell("pump.txt", Script(failed_ingests=ALWAYS, late_success=timedelta(milliseconds=200)))
        accepted = await works.upload(await works.space())
        operation = await works.ended(accepted.work.operation.id)
        assert (operation.status, operation.retry_count) == (OperationStatus.SUCCEEDED, 1)
        assert made(works, Call.START, accepted) == 1


async def test_a_success_that_comes_after_everybody_has_given_up_is_found_by_a_manual_retry(works: Works) -> None:
    works.provider.tell("pump.txt", Script(failed_ingests=ALWAYS))
    accepted = await works.upload(await works.space())
    failed = await works.ended(accepted.work.operation.id)
    assert failed.status is OperationStatus.FAILED
    works.provider.tell("pump.txt", Script(failed_ingests=ALWAYS, late_success=timedelta(0)))
    assert (await works.version_of(accepted)).status is VersionStatus.FAILED
    retried = await works.bench.retry(failed.id)
    assert (await works.ended(retried.work.operation.id)).status is OperationStatus.SUCCEEDED
    assert made(works, Call.START, accepted) == 6


# --- again and again ------------------------------------------------------------------------------


async def test_every_event_twice_more_changes_nothing_anywhere(works: Works) -> None:
    works.provider.tell("pump.txt", faulty(Call.UPLOAD, unavailable=2))
    works.provider.tell("bad.txt", Script(rejects=FailureReason.FILE_CORRUPT))
    space_id = await works.space()
    accepted = [await works.upload(space_id, name) for name in ("pump.txt", "bad.txt", "good.txt")]
    for one in accepted:
        await works.ended(one.work.operation.id)
    await works.at_rest()
    before = await state_of(works)

    await repeat_every_event(works)
    await works.at_rest()

    assert await state_of(works) == before
    assert [len(works.documents_at_provider(one)) for one in accepted] == [1, 0, 1]


STATES = (
    "SELECT id, status, retry_count FROM operation ORDER BY id",
    "SELECT id, status, active_version_id, candidate_version_id, lock_version FROM document ORDER BY id",
    "SELECT id, status, native_document_id, chunk_count FROM document_version ORDER BY id",
    "SELECT id, status FROM purge ORDER BY id",
    "SELECT count(*) FROM dead_letter",
)


async def state_of(works: Works) -> list[list[tuple[object, ...]]]:
    states = [await works.bench.rows(sql) for sql in STATES]
    native = works.provider._store.all()
    return [*states, [(one.native_id, one.name, one.ingests, one.text) for one in native]]


async def repeat_every_event(works: Works) -> None:
    """Publish everything in the events stream twice more, in its order, and wait until it is projected."""
    jetstream = works.desk.connection.jetstream
    last = (await jetstream.stream_info("KNOWGATE_EVENTS")).state.last_seq
    for turn in (1, 2):
        for sequence in range(1, last + 1):
            stored = await jetstream.get_msg("KNOWGATE_EVENTS", sequence)
            again = Message(
                subject=str(stored.subject),
                body=stored.data or b"",
                headers=dict(stored.headers or {}),
                message_id=f"again-{turn}-{sequence}",
            )
            await works.desk.publish(again)
    await works.becomes("SELECT sequence FROM projector_position WHERE stream = 'KNOWGATE_EVENTS'", (3 * last,))


async def test_five_reindexes_leave_as_many_hits_and_documents_as_there_were(works: Works) -> None:
    space_id = await works.space()
    document_id = await works.uploaded(space_id)
    first = await hits(works, document_id)
    assert first > 0
    for expected in (1, 3, 5, 7, 9):
        body = DocumentLockRequest(expected_version=expected)
        accepted = await works.bench.write(
            lambda conn, body=body: reindex_document(  # type: ignore[misc]
                conn, document_id, body, works.bench.request(), works.bench.around
            )
        )
        assert (await works.ended(accepted.work.operation.id)).status is OperationStatus.SUCCEEDED
        await works.becomes("SELECT count(*) FROM purge WHERE status <> 'DONE'", (0,))
        assert await hits(works, document_id) == first
        assert document_of(accepted).id == document_id
    assert len(works.provider._store.all(space_id)) == 1


async def hits(works: Works, document_id: DocumentId) -> int:
    """How many passages a search of the document's active version finds."""
    document = await works.bench.document(document_id)
    assert document.active_version_id is not None
    version = await works.bench.version(document.active_version_id)
    assert version.native_document_id is not None
    space = SpaceRef(space_id=document.space_id, profile=PROFILE, native_id=None)
    question = Question(text="pump valve", allowed=[(space, [version.native_document_id])], limit=50)
    return sum(len(ranking.passages) for ranking in await works.provider.search(question))
