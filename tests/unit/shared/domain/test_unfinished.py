"""Why an operation has not ended: what it waits for, told from what the tables hold and what the workers say."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.contracts.enums import (
    OperationStatus,
    OperationType,
    PurgeReason,
    ResourceType,
    Step,
    UnfinishedReason,
)
from shared.contracts.ids import (
    CommandId,
    DocumentId,
    LetterId,
    OperationId,
    PurgeId,
    SpaceId,
    SubjectId,
    TenantId,
    VersionId,
)
from shared.domain.operation import Operation
from shared.domain.purge import Purge, PurgeStatus
from shared.domain.unfinished import (
    WORST_FIRST,
    Explanation,
    LiveWorkers,
    OpenCommand,
    Unfinished,
    explain,
    is_overdue,
    still_since,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PATIENCE = timedelta(seconds=36)
INGEST = CommandId("op_1", Step.INGEST, 2, 1)
RUNNING = Operation(
    id=OperationId("op_1"),
    tenant_id=TenantId("acme"),
    type=OperationType.DOCUMENT_UPLOAD,
    status=OperationStatus.RUNNING,
    resource_type=ResourceType.DOCUMENT,
    resource_id="doc_1",
    space_id=SpaceId("spc_1"),
    document_id=DocumentId("doc_1"),
    version_id=VersionId("ver_1"),
    root_id=OperationId("op_1"),
    work=INGEST,
    created_by=SubjectId("ana"),
    created_at=NOW - timedelta(hours=2),
    updated_at=NOW - timedelta(hours=1),
)
DELETE = replace(
    RUNNING, type=OperationType.DOCUMENT_DELETE, status=OperationStatus.RUNNING, version_id=None, work=None
)
IDLE = LiveWorkers(is_known=True, slots={Step.INGEST: 2, Step.PURGE: 1, Step.CANCEL: 1}, hands={})
BUSY = replace(IDLE, hands={"op_8.ingest.1.1": "w-1", "op_9.ingest.1.1": "w-2"})
NONE = replace(IDLE, slots={Step.UPLOAD: 2})
UNKNOWN = LiveWorkers(is_known=False, slots={}, hands={})
WAITS = OpenCommand(id=INGEST, due_at=NOW - timedelta(minutes=30))
OUT = replace(WAITS, published_at=NOW - timedelta(minutes=20))
FRESH = replace(WAITS, published_at=NOW - timedelta(seconds=36))
BEGUN = replace(RUNNING, heard_at=NOW - timedelta(minutes=10))
HEARD = replace(RUNNING, heard_at=NOW - timedelta(seconds=36))
PURGE = Purge(
    id=PurgeId("pur_1"),
    tenant_id=TenantId("acme"),
    step=Step.PURGE,
    reason=PurgeReason.DELETED,
    status=PurgeStatus.WAITING,
    attempt=3,
    due_at=NOW + timedelta(minutes=2),
    created_at=NOW,
    updated_at=NOW,
)
PURGING = OpenCommand(id=CommandId("pur_1", Step.PURGE, 3, 1), due_at=NOW, published_at=NOW - timedelta(minutes=20))


def told(
    *commands: OpenCommand, operation: Operation = RUNNING, workers: LiveWorkers = IDLE, **more: object
) -> Explanation:
    unfinished = Unfinished(operation=operation, commands=commands, **more)  # type: ignore[arg-type]
    return explain(unfinished, workers, NOW, PATIENCE)


@pytest.mark.parametrize(
    ("explanation", "reason"),
    [
        pytest.param(told(replace(WAITS, due_at=NOW + timedelta(seconds=9))), "WAITING", id="retry not due"),
        pytest.param(told(WAITS), "STARVED", id="due"),
        pytest.param(told(WAITS, workers=BUSY), "STARVED", id="due, all busy"),
        pytest.param(told(WAITS, workers=NONE), "NO_WORKER", id="due, nobody takes it"),
        pytest.param(told(WAITS, workers=UNKNOWN), "STARVED", id="due, nobody known"),
        pytest.param(told(OUT, workers=NONE), "NO_WORKER", id="out, nobody takes it"),
        pytest.param(told(OUT, workers=UNKNOWN), "STARVED", id="out, nobody known"),
        pytest.param(told(OUT, workers=BUSY), "STARVED", id="out, never begun, all busy"),
        pytest.param(told(FRESH), "STARVED", id="out just now"),
        pytest.param(told(OUT), "STUCK", id="out, never begun, idle hands"),
        pytest.param(told(OUT, operation=BEGUN), "STUCK", id="begun, in nobody's hand"),
        pytest.param(told(OUT, operation=BEGUN, workers=BUSY), "STUCK", id="begun, in nobody's hand, all busy"),
        pytest.param(told(OUT, operation=HEARD), "STARVED", id="begun, heard just now"),
        pytest.param(told(OUT, operation=BEGUN, workers=UNKNOWN), "STARVED", id="begun, nobody known"),
        pytest.param(told(OUT, workers=replace(IDLE, is_complete=False)), "STARVED", id="a worker does not tell"),
        pytest.param(told(), "STUCK", id="its command has vanished"),
        pytest.param(told(operation=replace(RUNNING, updated_at=NOW)), "WAITING", id="it moves this moment"),
        pytest.param(told(OUT, letter_id=LetterId("ltr_1")), "STUCK", id="dead letter"),
    ],
)
def test_the_reason_is_what_the_command_waits_for(explanation: Explanation, reason: str) -> None:
    assert explanation.reason.value == reason


def test_what_a_live_worker_has_in_hand_is_being_worked_on_however_long_it_takes() -> None:
    found = told(OUT, operation=BEGUN, workers=replace(BUSY, hands={str(INGEST): "w-7"}))
    assert found == Explanation(
        reason=UnfinishedReason.WORKING,
        sentence="Worker w-7 has its step ingest in hand.",
        command=INGEST,
        worker_id="w-7",
    )


def test_the_sentence_says_when_the_retry_is_due() -> None:
    found = told(replace(WAITS, due_at=datetime(2026, 3, 1, 12, 5, tzinfo=UTC)))
    assert found.sentence == "Its step ingest is tried again at 2026-03-01T12:05:00.000Z."


def test_the_sentence_names_the_step_for_which_workers_are_missing() -> None:
    assert told(OUT, workers=NONE).sentence == (
        "Its step ingest is due and no live worker takes that step. Start workers for it."
    )


def test_the_sentence_blames_the_workers_only_when_they_are_busy() -> None:
    assert told(WAITS, workers=BUSY).sentence == (
        "Its step ingest waits for its turn: the workers are busy with other work. "
        "More workers for that step end the wait."
    )
    assert told(WAITS).sentence.startswith("Its step ingest is due and not handed out yet although workers are idle.")


def test_the_sentence_names_the_letter_that_is_to_be_settled() -> None:
    found = told(OUT, letter_id=LetterId("ltr_1"))
    assert found.letter_id == "ltr_1"
    assert found.sentence == (
        "An event of it could not be applied and lies in dead letter ltr_1. "
        "Replay or discard that letter, or fail the operation."
    )


def test_what_is_being_cancelled_hangs_on_its_cancel() -> None:
    cancel = CommandId("op_1", Step.CANCEL, 1, 1)
    cancelling = replace(RUNNING, cancel=cancel, cancel_requested_at=NOW)
    waits = OpenCommand(id=cancel, due_at=NOW, published_at=None)
    found = told(OUT, waits, operation=cancelling, workers=replace(IDLE, slots={Step.INGEST: 2}))
    assert (found.reason.value, found.command) == ("NO_WORKER", cancel)


def test_hands_full_of_other_steps_are_idle_for_this_one() -> None:
    others = {"op_8.upload.1.1": "w-1", "op_9.upload.1.1": "w-1", "not one of ours": "w-1"}
    assert told(OUT, workers=replace(IDLE, hands=others)).reason is UnfinishedReason.STUCK


@pytest.mark.parametrize(
    ("explanation", "reason", "sentence"),
    [
        pytest.param(
            told(operation=DELETE, waits_for=(OperationId("op_7"),)),
            "WAITING",
            "It begins when what else runs on the document has ended: op_7.",
            id="other work",
        ),
        pytest.param(
            told(operation=DELETE, purges=(PURGE, replace(PURGE, due_at=NOW + timedelta(hours=1)))),
            "WAITING",
            "It waits for 2 purges; the next is tried at 2026-03-01T12:02:00.000Z.",
            id="purges that are not due",
        ),
        pytest.param(
            told(operation=DELETE, purges=(replace(PURGE, due_at=NOW),)),
            "WAITING",
            "It waits for 1 purges, which begin when every command that is out for its versions is answered.",
            id="purges that cannot begin",
        ),
        pytest.param(
            told(operation=DELETE), "STUCK", "Nothing is left that it could wait for. Fail the operation.", id="nothing"
        ),
    ],
)
def test_a_delete_waits_for_work_and_then_for_its_purges(explanation: Explanation, reason: str, sentence: str) -> None:
    assert (explanation.reason.value, explanation.sentence) == (reason, sentence)


def test_the_worst_of_a_deletes_purges_tells_why_it_has_not_ended() -> None:
    waits = OpenCommand(id=CommandId("pur_2", Step.PURGE, 1, 1), due_at=NOW)
    found = told(waits, PURGING, operation=DELETE, purges=(PURGE,))
    assert (found.reason.value, found.command) == ("STUCK", PURGING.id)


def test_every_reason_has_its_place_among_the_worst() -> None:
    assert set(WORST_FIRST) == set(UnfinishedReason)


def test_an_operation_is_overdue_from_its_last_move_or_its_retry_whatever_is_later() -> None:
    waiting = replace(RUNNING, next_retry_at=NOW - timedelta(minutes=10))
    assert still_since(RUNNING) == NOW - timedelta(hours=1)
    assert still_since(waiting) == NOW - timedelta(minutes=10)
    assert still_since(replace(RUNNING, next_retry_at=NOW - timedelta(hours=3))) == NOW - timedelta(hours=1)
    assert is_overdue(RUNNING, NOW, timedelta(minutes=59))
    assert not is_overdue(RUNNING, NOW, timedelta(hours=1))
    assert not is_overdue(waiting, NOW, timedelta(minutes=15))
