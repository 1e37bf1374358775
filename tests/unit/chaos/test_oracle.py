"""The oracle of the chaos runs: a sound world breaks no promise, and each way of breaking one is told by its name."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.chaos.ledger import Fault
from tests.chaos.oracle.invariants import judge
from tests.chaos.oracle.world import (
    Accepted,
    Answer,
    AuditLink,
    Document,
    Held,
    Hit,
    Look,
    Operation,
    Space,
    StoredFile,
    ToldEvent,
    Transition,
    Version,
    World,
)
from tests.chaos.report import recovery_seconds
from tests.chaos.texts import digest_of

T0 = datetime(2031, 5, 6, 12, 0, tzinfo=UTC)
MARK, OTHER_MARK = "mark-acme-1", "mark-acme-2"
UPLOAD = Operation(
    id="op_1",
    tenant="acme",
    type="DOCUMENT_UPLOAD",
    status="SUCCEEDED",
    space_id="spc_1",
    document_id="doc_1",
    version_id="ver_1",
    root_id="op_1",
    parent_id=None,
    manual_attempt=0,
    retry_count=1,
)
SPACE = Space(id="spc_1", tenant="acme", status="ACTIVE")
DOCUMENT = Document(
    id="doc_1",
    tenant="acme",
    space_id="spc_1",
    status="ACTIVE",
    active_version_id="ver_1",
    candidate_version_id=None,
)
VERSION = Version(
    id="ver_1",
    tenant="acme",
    space_id="spc_1",
    document_id="doc_1",
    status="READY",
    sha256=digest_of(MARK),
    file_id="fil_1",
    native_id="nat_1",
    chunks=4,
)
HELD = Held(space_id="spc_1", version_id="ver_1", native_id="nat_1", is_done=True, chunks=4)
FILE = StoredFile(id="fil_1", object_key="objects/1", status="LIVE", has_resource=False)
ANSWER = Answer(
    tenant="acme",
    asked_at=T0 + timedelta(seconds=20),
    answered_at=T0 + timedelta(seconds=21),
    hits=(Hit(document_id="doc_1", marks=frozenset({MARK})),),
    expected=frozenset({"doc_1"}),
)


def moved(resource_type: str, resource_id: str, *statuses: str) -> list[Transition]:
    """A thing that took these statuses, one a second."""
    return [
        Transition(
            at=T0 + timedelta(seconds=second),
            resource_type=resource_type,
            resource_id=resource_id,
            before=before,
            after=after,
        )
        for second, (before, after) in enumerate(zip((None, *statuses), statuses, strict=False))
    ]


def link_after(prev_hash: str, seq: int, entry_id: str) -> AuditLink:
    digest = hashlib.sha256(f"{prev_hash}:{seq}:{entry_id}".encode()).hexdigest()
    return AuditLink(
        chain="acme",
        seq=seq,
        entry_id=entry_id,
        prev_hash=prev_hash,
        hash=digest,
        stored_content=entry_id,
        actual_content=entry_id,
    )


FIRST = link_after("", 1, "aud_1")
SECOND = link_after(FIRST.hash, 2, "aud_2")
SOUND = World(
    accepted=(Accepted(operation_id="op_1", tenant="acme", key="k1"),),
    looks=(Look(operation_id="op_1", status="RUNNING"), Look(operation_id="op_1", status="SUCCEEDED")),
    told=(
        ToldEvent(tenant="acme", seq=1, resource_id="op_1", after="RUNNING"),
        ToldEvent(tenant="acme", seq=4, resource_id="op_1", after="SUCCEEDED"),
    ),
    answers=(ANSWER,),
    operations={"op_1": UPLOAD},
    spaces={"spc_1": SPACE},
    documents={"doc_1": DOCUMENT},
    versions={"ver_1": VERSION},
    transitions=(
        *moved("SPACE", "spc_1", "CREATING", "ACTIVE"),
        *moved("DOCUMENT", "doc_1", "CREATING", "ACTIVE"),
        *moved("VERSION", "ver_1", "CREATED", "UPLOADING", "UPLOADED", "INGESTING", "READY"),
        *moved("OPERATION", "op_1", "PENDING", "RUNNING", "SUCCEEDED"),
    ),
    links=(FIRST, SECOND),
    files=(FILE,),
    waiting={"outbox": (), "broker": ()},
    attempts={"op_1": 2},
    held=(HELD,),
    held_spaces=frozenset({"spc_1"}),
    objects=frozenset({"objects/1"}),
    replayed_events=9,
)


def with_operation(operation: Operation) -> World:
    return replace(SOUND, operations={operation.id: operation})


def with_document(**changed: str | None) -> World:
    return replace(SOUND, documents={"doc_1": replace(DOCUMENT, **changed)})  # type: ignore[arg-type]


def with_answer(**changed: object) -> World:
    return replace(SOUND, answers=(replace(ANSWER, **changed),))  # type: ignore[arg-type]


def with_hit(**changed: object) -> World:
    return with_answer(hits=(replace(ANSWER.hits[0], **changed),))  # type: ignore[arg-type]


def retried(manual_attempt: int, parent_id: str = "op_1") -> Operation:
    return replace(UPLOAD, id=f"op_{manual_attempt + 1}", parent_id=parent_id, manual_attempt=manual_attempt)


def test_a_sound_world_breaks_no_promise() -> None:
    assert judge(SOUND) == []


FOREIGN_HELD = replace(HELD, native_id="nat_2")
OTHER_VERSION = replace(VERSION, id="ver_2", status="RETIRED")

BROKEN: dict[str, tuple[str, Callable[[], World]]] = {
    "an accepted operation is not there": (
        "one_terminal_state",
        lambda: replace(SOUND, accepted=(*SOUND.accepted, Accepted(operation_id="op_9", tenant="acme", key="k9"))),
    ),
    "a request got no answer": ("one_terminal_state", lambda: replace(SOUND, unanswered=("upload of acme",))),
    "an operation has not ended": (
        "one_terminal_state",
        lambda: with_operation(replace(UPLOAD, status="RUNNING")),
    ),
    "an operation that ended has a command": (
        "one_terminal_state",
        lambda: with_operation(replace(UPLOAD, has_commands=True)),
    ),
    "one key was answered with two operations": (
        "one_terminal_state",
        lambda: replace(SOUND, accepted=(*SOUND.accepted, Accepted(operation_id="op_2", tenant="acme", key="k1"))),
    ),
    "an operation was promised to nobody": ("one_terminal_state", lambda: replace(SOUND, accepted=())),
    "an operation left its end": (
        "one_terminal_state",
        lambda: replace(
            SOUND, transitions=(*SOUND.transitions, *moved("OPERATION", "op_1", "FAILED", "CANCELLED")[1:])
        ),
    ),
    "a poll saw another end": (
        "one_terminal_state",
        lambda: replace(SOUND, looks=(*SOUND.looks, Look(operation_id="op_1", status="FAILED"))),
    ),
    "the event stream went back": (
        "one_terminal_state",
        lambda: replace(SOUND, told=(*SOUND.told, ToldEvent(tenant="acme", seq=2, resource_id="x", after="RUNNING"))),
    ),
    "a version has two provider documents": (
        "one_provider_document",
        lambda: replace(SOUND, held=(HELD, FOREIGN_HELD)),
    ),
    "an active document serves nothing": (
        "active_is_verified",
        lambda: with_document(active_version_id=None),
    ),
    "the active version is not done at the provider": (
        "active_is_verified",
        lambda: replace(SOUND, held=(replace(HELD, is_done=False),)),
    ),
    "the active version has no chunks": (
        "active_is_verified",
        lambda: replace(SOUND, versions={"ver_1": replace(VERSION, chunks=0)}),
    ),
    "a second version is READY": (
        "at_most_one_candidate",
        lambda: replace(SOUND, versions={"ver_1": VERSION, "ver_2": replace(OTHER_VERSION, status="READY")}),
    ),
    "a failed version is in no slot": (
        "at_most_one_candidate",
        lambda: replace(SOUND, versions={"ver_1": VERSION, "ver_2": replace(OTHER_VERSION, status="FAILED")}),
    ),
    "a slot holds what is no version": ("at_most_one_candidate", lambda: with_document(candidate_version_id="ver_9")),
    "a tenant was told of another's": ("answers_only_active", lambda: replace(SOUND, foreign=("globex saw doc_1",))),
    "a hit is of another tenant": ("answers_only_active", lambda: with_answer(tenant="globex")),
    "a hit is of a text that was never active": (
        "answers_only_active",
        lambda: with_hit(marks=frozenset({OTHER_MARK})),
    ),
    "a hit was told before its version was active": (
        "answers_only_active",
        lambda: with_answer(asked_at=T0 - timedelta(seconds=9), answered_at=T0 - timedelta(seconds=8)),
    ),
    "an answer mixes two versions": (
        "answers_only_active",
        lambda: with_hit(marks=frozenset({MARK, OTHER_MARK})),
    ),
    "a search found nothing where something was": ("never_nothing", lambda: with_answer(hits=())),
    "six automatic retries": ("retries_bounded", lambda: with_operation(replace(UPLOAD, retry_count=6))),
    "an attempt that was not counted": ("retries_bounded", lambda: replace(SOUND, attempts={"op_1": 3})),
    "a fourth manual retry": (
        "retries_bounded",
        lambda: replace(
            SOUND,
            operations={"op_1": UPLOAD}
            | {f"op_{number + 1}": retried(number, f"op_{number}") for number in range(1, 5)},
        ),
    ),
    "a manual retry of what is not its parent": (
        "retries_bounded",
        lambda: replace(SOUND, operations={"op_1": UPLOAD, "op_2": retried(1, "op_9")}),
    ),
    "applying events again changed something": (
        "replay_same_state",
        lambda: replace(SOUND, replayed=("document doc_1",)),
    ),
    "there were no events to apply": ("replay_same_state", lambda: replace(SOUND, replayed_events=0)),
    "an entry is in no chain": ("audit_complete", lambda: replace(SOUND, unchained=("aud_3",))),
    "a link is missing": ("audit_complete", lambda: replace(SOUND, links=(SECOND,))),
    "an entry was changed": (
        "audit_complete",
        lambda: replace(SOUND, links=(FIRST, replace(SECOND, actual_content="aud_x"))),
    ),
    "a link's hash is another": (
        "audit_complete",
        lambda: replace(SOUND, links=(FIRST, replace(SECOND, hash="f" * 64))),
    ),
    "a transition has no entry": ("audit_complete", lambda: replace(SOUND, transitions=SOUND.transitions[:-1])),
    "a queue is not empty": ("nothing_left", lambda: replace(SOUND, waiting={"outbox": ("op_1.upload.1.1",)})),
    "the provider lost an active version": ("nothing_left", lambda: replace(SOUND, held=())),
    "the provider holds what nobody needs": (
        "nothing_left",
        lambda: replace(SOUND, held=(HELD, replace(HELD, version_id="ver_9", native_id="nat_9"))),
    ),
    "the provider lost a space": ("nothing_left", lambda: replace(SOUND, held_spaces=frozenset())),
    "the provider holds a space that is gone": (
        "nothing_left",
        lambda: replace(SOUND, held_spaces=frozenset({"spc_1", "spc_9"})),
    ),
    "a file has no object": ("nothing_left", lambda: replace(SOUND, objects=frozenset())),
    "an object is nobody's": ("nothing_left", lambda: replace(SOUND, objects=frozenset({"objects/1", "objects/2"}))),
    "a file is still going": ("nothing_left", lambda: replace(SOUND, files=(replace(FILE, status="PURGING"),))),
}


@pytest.mark.parametrize("what", BROKEN)
def test_each_way_to_break_a_promise_is_told_by_its_name(what: str) -> None:
    invariant, broken = BROKEN[what]
    assert invariant in {violation.invariant for violation in judge(broken())}


def test_an_object_may_be_left_by_an_upload_that_broke_off() -> None:
    assert judge(replace(SOUND, objects=frozenset({"objects/1", "objects/2"}), interrupted_uploads=1)) == []


def test_recovery_is_the_time_from_a_kill_to_the_next_end() -> None:
    faults = [
        Fault(at=T0 + timedelta(seconds=1), kind="kill", target="worker-1", pid=1),
        Fault(at=T0 + timedelta(seconds=1), kind="stall", target="nats", pid=2, seconds=3.0),
        Fault(at=T0 + timedelta(seconds=5), kind="kill", target="api", pid=3),
    ]
    assert recovery_seconds(SOUND, faults) == [1.0]
