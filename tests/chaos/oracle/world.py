"""What the oracle is told: what callers were answered, and what database, provider, broker and object store hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

SUCCEEDED: Final = "SUCCEEDED"
FAILED: Final = "FAILED"
CANCELLED: Final = "CANCELLED"
ENDS: Final = frozenset({SUCCEEDED, FAILED, CANCELLED})
"""The statuses that an operation never leaves. The oracle has words of its own, as a caller has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A 202, or a 201 of a space: what was promised to a caller."""

    operation_id: str
    tenant: str
    key: str
    """The idempotency key of the request; its repetitions bear the same one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """An operation as a poll has shown it; looks stand in the order of their answers."""

    operation_id: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldEvent:
    """A transition as the event stream has told it to a tenant; they stand in the order of their arrival."""

    tenant: str
    seq: int
    resource_id: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One hit of a search, or the place of a citation."""

    document_id: str
    marks: frozenset[str]
    """Which texts its content is from."""
    version_id: str | None = None
    """Only a citation tells it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a search or a citation answered, between two moments."""

    tenant: str
    asked_at: datetime
    answered_at: datetime
    hits: tuple[Hit, ...]
    expected: frozenset[str] = frozenset()
    """Documents that were served before it was asked and that nobody takes away: at least one must be found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation as the database has it."""

    id: str
    tenant: str
    type: str
    status: str
    space_id: str
    document_id: str | None
    version_id: str | None
    root_id: str
    parent_id: str | None
    manual_attempt: int
    retry_count: int
    has_commands: bool = False
    """A command of it is current, or a retry of it is due."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """A space as the database has it."""

    id: str
    tenant: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document as the database has it."""

    id: str
    tenant: str
    space_id: str
    status: str
    active_version_id: str | None
    candidate_version_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version as the database has it."""

    id: str
    tenant: str
    space_id: str
    document_id: str
    status: str
    sha256: str
    file_id: str
    native_id: str | None
    chunks: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """A status that changed, as the audit has it; `at` is the moment of its commit."""

    at: datetime
    resource_type: str
    resource_id: str
    before: str | None
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLink:
    """An entry's place in a chain, with the hash that is stored of the entry and the one that its columns have."""

    chain: str
    seq: int
    entry_id: str
    prev_hash: str
    hash: str
    stored_content: str
    actual_content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A document that the provider holds."""

    space_id: str
    version_id: str
    native_id: str
    is_done: bool
    chunks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file as the database has it."""

    id: str
    object_key: str
    status: str
    has_resource: bool
    """An uploader may still name it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """All of it, once everything was given the time to end."""

    accepted: Sequence[Accepted] = ()
    looks: Sequence[Look] = ()
    told: Sequence[ToldEvent] = ()
    answers: Sequence[Answer] = ()
    foreign: Sequence[str] = ()
    """What a tenant was told of another one's, in words."""
    unanswered: Sequence[str] = ()
    """Requests that got no answer to the end, in words."""
    interrupted_uploads: int = 0
    """Uploads whose answer was not awaited or lost: each may have left an object that nobody knows."""

    operations: Mapping[str, Operation] = field(default_factory=dict)
    spaces: Mapping[str, Space] = field(default_factory=dict)
    documents: Mapping[str, Document] = field(default_factory=dict)
    versions: Mapping[str, Version] = field(default_factory=dict)
    transitions: Sequence[Transition] = ()
    links: Sequence[AuditLink] = ()
    unchained: Sequence[str] = ()
    """Audit entries that are in no chain."""
    files: Sequence[StoredFile] = ()
    waiting: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What should be empty and what still is in it, by name: outbox, purges, streams."""
    attempts: Mapping[str, int] = field(default_factory=dict)
    """The highest attempt that a worker has reported of an operation's own work."""

    held: Sequence[Held] = ()
    held_spaces: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()
    """Keys in the object store."""
    replayed: Sequence[str] = ()
    """What another application of all events has changed, in words."""
    replayed_events: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One promise that was not kept: enough to look for the reason."""

    invariant: str
    text: str
