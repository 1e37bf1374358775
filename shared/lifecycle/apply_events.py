"""Applies a batch of events in the caller's transaction: state, audit, closed and new commands, purges.

The order of locks is that of the whole product: space, document, operation, version, purge; within a
kind by id. An event that is known to the inbox changes nothing.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.contracts.enums import Step
from shared.contracts.events import TERMINAL_EVENTS, AnyEvent
from shared.contracts.ids import CommandId
from shared.database.audit import write_entries
from shared.database.documents import load_documents, save_documents
from shared.database.inbox import known_events, remember_events
from shared.database.locking import Lock
from shared.database.operations import load_operations, save_operations
from shared.database.outbox import OutboxCommand, close_commands, insert_commands, withdraw_unpublished
from shared.database.purges import insert_purges, load_purges
from shared.database.spaces import load_spaces, save_spaces
from shared.database.versions import load_versions, save_versions
from shared.domain.audit import Actor, AuditEntry, Origin
from shared.domain.document import Document
from shared.domain.operation import Operation
from shared.domain.projection import project
from shared.domain.purge import PurgeOrder
from shared.domain.space import Space
from shared.domain.version import Version
from shared.domain.work import Projected, Work
from shared.lifecycle.commands import build_command, outbox_row
from shared.lifecycle.deletion import begin_deletes, settle_deletes
from shared.lifecycle.held import Held
from shared.lifecycle.purges import apply_purge_events, new_purge
from shared.lifecycle.recording import Stateful, record_transition
from shared.lifecycle.surroundings import Surroundings

HOUSEKEEPING = frozenset({Step.PURGE, Step.PURGE_FILE})
"""Commands of these steps belong to purges, not to operations."""

ORIGIN: Final = Origin(actor=Actor.PROJECTOR)


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """An event with the trace it came in."""

    event: AnyEvent
    traceparent: str | None = None


@dataclass(slots=True)
class Applied:
    """What a batch came to. `skipped` were no longer current; `known` had been applied before."""

    applied: int = 0
    skipped: int = 0
    known: int = 0
    issued: int = 0
    unknown_owner: int = 0


@dataclass(slots=True)
class _Batch:
    """Everything that the batch holds in memory until it is saved."""

    spaces: Held[Space]
    documents: Held[Document]
    operations: Held[Operation]
    versions: Held[Version]
    now: datetime
    commands: list[OutboxCommand] = field(default_factory=list)
    orders: list[tuple[Work, PurgeOrder]] = field(default_factory=list)
    entries: list[AuditEntry] = field(default_factory=list)


def apply_events(conn: Connection, received: Sequence[ReceivedEvent], around: Surroundings) -> Applied:
    """Apply the events in their order, once each."""
    counts = Applied()
    fresh = _unknown(conn, received, counts)
    if not fresh:
        return counts
    work_events = [item for item in fresh if item.event.step not in HOUSEKEEPING]
    purge_events = [item.event for item in fresh if item.event.step in HOUSEKEEPING]
    owners = {CommandId.parse(item.event.command_id).owner for item in work_events}
    batch = _load(conn, owners | _deletes_of(conn, purge_events), around.clock())
    for item in work_events:
        _apply(batch, item, around, counts)
    terminal = [item.event.command_id for item in fresh if item.event.type in TERMINAL_EVENTS]
    close_commands(conn, terminal)
    _save(conn, batch, around)
    begin_deletes(conn, _left_alone(batch), ORIGIN, around, batch.now)
    purges = apply_purge_events(conn, purge_events, around)
    settle_deletes(conn, {purge.operation_id for purge in purges if purge.operation_id}, ORIGIN, around, batch.now)
    counts.applied += len(purges)
    remember_events(conn, [item.event.event_id for item in fresh], batch.now)
    counts.issued = len(batch.commands)
    return counts


def _unknown(conn: Connection, received: Sequence[ReceivedEvent], counts: Applied) -> list[ReceivedEvent]:
    """The events that were never applied, each once."""
    known = set(known_events(conn, [item.event.event_id for item in received]))
    fresh = []
    for item in received:
        if item.event.event_id not in known:
            known.add(item.event.event_id)
            fresh.append(item)
    counts.known = len(received) - len(fresh)
    return fresh


def _deletes_of(conn: Connection, purge_events: Iterable[AnyEvent]) -> set[str]:
    """The operations that wait for the purges which the events are about."""
    purges = load_purges(conn, {CommandId.parse(event.command_id).owner for event in purge_events})
    return {purge.operation_id for purge in purges.values() if purge.operation_id is not None}


def _left_alone(batch: _Batch) -> set[str]:
    """The documents that are being deleted and on which something has just ended."""
    ended = {operation.document_id for operation in batch.operations.changed() if operation.is_over}
    documents = [batch.documents.get(document_id) for document_id in ended]
    return {document.id for document in documents if document is not None and document.is_hidden}


def _load(conn: Connection, owners: Collection[str], now: datetime) -> _Batch:
    """Load and lock what the events may move. A first, unlocked look at the operations tells what that is."""
    seen = load_operations(conn, owners).values()
    about_spaces = {operation.space_id for operation in seen if operation.document_id is None}
    spaces = load_spaces(conn, about_spaces, lock=Lock.UPDATE)
    others = {operation.space_id for operation in seen} - about_spaces
    spaces |= load_spaces(conn, others)
    documents = load_documents(
        conn, {operation.document_id for operation in seen if operation.document_id is not None}, lock=Lock.UPDATE
    )
    operations = load_operations(conn, {operation.id for operation in seen}, lock=Lock.UPDATE)
    version_ids = {operation.version_id for operation in operations.values()}
    version_ids |= {document.active_version_id for document in documents.values()}
    versions = load_versions(conn, {version for version in version_ids if version is not None}, lock=Lock.UPDATE)
    return _Batch(
        spaces=Held(dict(spaces)),
        documents=Held(dict(documents)),
        operations=Held(dict(operations)),
        versions=Held(dict(versions)),
        now=now,
    )


def _apply(batch: _Batch, item: ReceivedEvent, around: Surroundings, counts: Applied) -> None:
    operation = batch.operations.get(CommandId.parse(item.event.command_id).owner)
    if operation is None:
        counts.unknown_owner += 1
        return
    before = _gather(batch, operation)
    projected = project(before, item.event, around.moment(batch.now))
    if projected.is_skipped:
        counts.skipped += 1
    else:
        counts.applied += 1
    _record(batch, before, projected, item, around)
    _keep(batch, projected.work)
    _follow(batch, projected, item, around)


def _gather(batch: _Batch, operation: Operation) -> Work:
    space = batch.spaces.get(operation.space_id)
    if space is None:
        raise LookupError(f"operation {operation.id} names a space that is not there")
    document = batch.documents.get(operation.document_id)
    active_id = None if document is None else document.active_version_id
    return Work(
        operation=operation,
        space=space,
        document=document,
        version=batch.versions.get(operation.version_id),
        active=None if active_id == operation.version_id else batch.versions.get(active_id),
    )


def _keep(batch: _Batch, work: Work) -> None:
    batch.spaces.put(work.space)
    batch.documents.put(work.document)
    batch.operations.put(work.operation)
    batch.versions.put(work.version)
    batch.versions.put(work.active)


def _record(batch: _Batch, before: Work, projected: Projected, item: ReceivedEvent, around: Surroundings) -> None:
    after = projected.work
    origin = replace(ORIGIN, traceparent=item.traceparent)
    pairs: tuple[tuple[Stateful | None, Stateful | None], ...] = (
        (before.operation, after.operation),
        (before.space, after.space),
        (before.document, after.document),
        (before.version, after.version),
        (before.active, after.active),
    )
    for was, now in pairs:
        note = projected.note if now is after.operation else None
        if now is not None and (was is not now or note is not None):
            batch.entries.extend(
                record_transition(
                    was,
                    now,
                    origin=origin,
                    now=batch.now,
                    new_id=around.new_id,
                    operation=after.operation,
                    action=note,
                )
            )


def _follow(batch: _Batch, projected: Projected, item: ReceivedEvent, around: Surroundings) -> None:
    """Turn what the decision asks for into an outbox row and purge orders."""
    work = projected.work
    batch.orders.extend((work, order) for order in projected.purges)
    if projected.issue is None:
        return
    command = build_command(
        work,
        projected.issue.command,
        now=batch.now,
        deadline=around.settings.deadline(projected.issue.command.step),
    )
    batch.commands.append(
        outbox_row(command, traceparent=item.traceparent, due_at=projected.issue.due_at, now=batch.now)
    )


def _save(conn: Connection, batch: _Batch, around: Surroundings) -> None:
    save_spaces(conn, batch.spaces.changed())
    save_documents(conn, batch.documents.changed())
    save_operations(conn, batch.operations.changed())
    save_versions(conn, batch.versions.changed())
    withdraw_unpublished(conn, [operation.id for operation in batch.operations.changed() if operation.is_over])
    insert_commands(conn, batch.commands)
    insert_purges(conn, [new_purge(work, order, around, batch.now) for work, order in batch.orders])
    write_entries(conn, batch.entries)
