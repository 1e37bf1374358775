"""A small sound world, in which every promise was kept: its things, and the same world with something changed.

Two documents of acme: the first was uploaded and is served, the second was uploaded and deleted.
"""

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

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
from tests.chaos.texts import digest_of

NOON: Final = datetime(2031, 5, 6, 12, 0, tzinfo=UTC)
MARK: Final = "mark-acme-1"
GONE_MARK: Final = "mark-acme-2"

SPACE: Final = Space(id="spc_1", tenant="acme", status="ACTIVE")
DOCUMENT: Final = Document(
    id="doc_1",
    tenant="acme",
    space_id="spc_1",
    status="ACTIVE",
    active_version_id="ver_1",
    candidate_version_id=None,
)
GONE_DOCUMENT: Final = replace(DOCUMENT, id="doc_2", status="DELETED", active_version_id="ver_2")
VERSION: Final = Version(
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
GONE_VERSION: Final = replace(
    VERSION,
    id="ver_2",
    document_id="doc_2",
    status="DELETED",
    sha256=digest_of(GONE_MARK),
    file_id="fil_2",
    native_id="nat_2",
)
UPLOAD: Final = Operation(
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
GONE_UPLOAD: Final = replace(UPLOAD, id="op_2", root_id="op_2", document_id="doc_2", version_id="ver_2", retry_count=0)
DELETE: Final = replace(GONE_UPLOAD, id="op_3", root_id="op_3", type="DOCUMENT_DELETE", version_id=None)
CREATE_SPACE: Final = replace(
    UPLOAD, id="op_4", root_id="op_4", type="SPACE_CREATE", document_id=None, version_id=None, retry_count=0
)
HELD: Final = Held(space_id="spc_1", version_id="ver_1", native_id="nat_1", is_done=True, chunks=4)
FILE: Final = StoredFile(id="fil_1", object_key="objects/1", status="LIVE", has_resource=False)
HIT: Final = Hit(document_id="doc_1", marks=frozenset({MARK}))
ANSWER: Final = Answer(
    tenant="acme",
    asked_at=NOON + timedelta(seconds=20),
    answered_at=NOON + timedelta(seconds=21),
    hits=(HIT,),
    expected=frozenset({"doc_1"}),
)


def a_world(**changed: Any) -> World:
    """The sound world with some of its fields changed."""
    return replace(_SOUND, **changed)


def broken(world: World) -> set[str]:
    """The names of the invariants that do not hold."""
    return {violation.invariant for violation in judge(world)}


def complaints(world: World) -> list[str]:
    """What is wrong, in words."""
    return [violation.text for violation in judge(world)]


def with_operation(operation: Operation, *moves: Transition) -> World:
    """With this operation in the place of its namesake or beside the others; `moves` in the place of its own."""
    world = a_world(operations={**_SOUND.operations, operation.id: operation})
    return replace(world, transitions=(*others(operation.id), *moves)) if moves else world


def with_space(space: Space, *statuses: str) -> World:
    """With this space, which took these statuses."""
    return a_world(
        spaces={**_SOUND.spaces, space.id: space},
        transitions=(*others(space.id), *moved("SPACE", space.id, *statuses)),
    )


def with_document(document: Document, *statuses: str) -> World:
    """With this document; `statuses`, if any, are what it took."""
    world = a_world(documents={**_SOUND.documents, document.id: document})
    moves = moved("DOCUMENT", document.id, *statuses)
    return replace(world, transitions=(*others(document.id), *moves)) if moves else world


def with_version(version: Version, *statuses: str) -> World:
    """With this version; `statuses`, if any, are what it took."""
    world = a_world(versions={**_SOUND.versions, version.id: version})
    moves = moved("VERSION", version.id, *statuses)
    return replace(world, transitions=(*others(version.id), *moves)) if moves else world


def with_answer(**changed: Any) -> World:
    """With one answer, changed."""
    return a_world(answers=(replace(ANSWER, **changed),))


def others(resource_id: str) -> list[Transition]:
    """The transitions of everything else."""
    return [transition for transition in _SOUND.transitions if transition.resource_id != resource_id]


def moved(resource_type: str, resource_id: str, *statuses: str, since: datetime = NOON) -> list[Transition]:
    """The transitions of a thing that took these statuses, one a second."""
    return [
        Transition(
            at=since + timedelta(seconds=second),
            resource_type=resource_type,
            resource_id=resource_id,
            before=before,
            after=after,
        )
        for second, (before, after) in enumerate(zip((None, *statuses), statuses, strict=False))
    ]


def step(resource_type: str, resource_id: str, before: str | None, after: str, second: int) -> Transition:
    """One transition, so many seconds after noon."""
    at = NOON + timedelta(seconds=second)
    return Transition(at=at, resource_type=resource_type, resource_id=resource_id, before=before, after=after)


def linked(seq: int, prev_hash: str, entry_id: str, content: str, *, chain: str = "acme") -> AuditLink:
    """A link of a chain whose hash is right."""
    return AuditLink(
        chain=chain,
        seq=seq,
        entry_id=entry_id,
        prev_hash=prev_hash,
        hash=hashlib.sha256(f"{prev_hash}:{seq}:{content}".encode()).hexdigest(),
        stored_content=content,
        actual_content=content,
    )


FIRST: Final = linked(1, "", "aud_1", "c1")
SECOND: Final = linked(2, FIRST.hash, "aud_2", "c2")
THIRD: Final = linked(3, SECOND.hash, "aud_3", "c3")

_ENDED: Final = ("PENDING", "RUNNING", "SUCCEEDED")
_INDEXED: Final = ("CREATED", "UPLOADING", "UPLOADED", "INGESTING", "READY")

_SOUND: Final = World(
    accepted=tuple(
        Accepted(operation_id=operation_id, tenant="acme", key=key)
        for operation_id, key in (("op_1", "k1"), ("op_1", "k1"), ("op_2", "k2"), ("op_3", "k3"))
    ),
    looks=(
        Look(operation_id="op_1", status="PENDING"),
        Look(operation_id="op_1", status="SUCCEEDED"),
        Look(operation_id="op_1", status="SUCCEEDED"),
    ),
    told=tuple(
        ToldEvent(tenant="acme", seq=seq, resource_id=resource_id, after=after)
        for seq, resource_id, after in (
            (2, "op_1", "RUNNING"),
            (3, "op_2", "RUNNING"),
            (5, "op_1", "SUCCEEDED"),
            (6, "op_2", "SUCCEEDED"),
            (9, "op_3", "SUCCEEDED"),
        )
    ),
    answers=(ANSWER,),
    operations={one.id: one for one in (UPLOAD, GONE_UPLOAD, DELETE, CREATE_SPACE)},
    spaces={"spc_1": SPACE},
    documents={"doc_1": DOCUMENT, "doc_2": GONE_DOCUMENT},
    versions={"ver_1": VERSION, "ver_2": GONE_VERSION},
    transitions=(
        *moved("SPACE", "spc_1", "CREATING", "ACTIVE"),
        *moved("OPERATION", "op_4", *_ENDED),
        *moved("DOCUMENT", "doc_1", "CREATING", "ACTIVE"),
        *moved("VERSION", "ver_1", *_INDEXED),
        *moved("OPERATION", "op_1", *_ENDED),
        *moved("DOCUMENT", "doc_2", "CREATING", "ACTIVE", "DELETING", "DELETED"),
        *moved("VERSION", "ver_2", *_INDEXED, "DELETED"),
        *moved("OPERATION", "op_2", *_ENDED),
        *moved("OPERATION", "op_3", *_ENDED),
    ),
    links=(FIRST, SECOND, THIRD, linked(1, "", "aud_4", "c4", chain="globex")),
    files=(FILE,),
    waiting={"outbox": (), "purge": (), "broker": ()},
    attempts={"op_1": 2},
    held=(HELD,),
    held_spaces=frozenset({"spc_1"}),
    objects=frozenset({"objects/1"}),
    replayed_events=9,
)
