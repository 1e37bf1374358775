"""Purges: made by decisions, issued when due and when nothing else of the version is out, ended by events."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from shared.contracts.commands import PurgeFile, PurgeVersion
from shared.contracts.enums import EventType, InterruptReason, PurgeReason, Step, VersionStatus
from shared.contracts.events import TERMINAL_EVENTS, AnyEvent, StepInterrupted
from shared.contracts.ids import CommandId, OperationId, PurgeId
from shared.database.audit import write_entries
from shared.database.files import StoredFile, delete_files, load_files, mark_purging
from shared.database.locking import Lock
from shared.database.outbox import insert_commands
from shared.database.purges import due_purges, insert_purges, load_purges, save_purges
from shared.database.spaces import load_spaces
from shared.database.versions import load_versions, save_versions
from shared.domain.audit import Actor, AuditEntry, Origin
from shared.domain.purge import ENDS_VERSION, Purge, PurgeOrder, PurgeStatus
from shared.domain.space import Space
from shared.domain.version import Version
from shared.domain.work import Work
from shared.lifecycle.commands import build_file_purge, build_purge, outbox_row
from shared.lifecycle.recording import record_transition
from shared.lifecycle.surroundings import Surroundings
from shared.telemetry.stamps import new_traceparent


def new_purge(work: Work, order: PurgeOrder, around: Surroundings, now: datetime) -> Purge:
    """The row of a purge that a decision about `work` ordered."""
    version = next(v for v in (work.version, work.active) if v is not None and v.id == order.version_id)
    return version_purge(version, order, around, now)


def version_purge(
    version: Version,
    order: PurgeOrder,
    around: Surroundings,
    now: datetime,
    *,
    operation_id: OperationId | None = None,
) -> Purge:
    """The row of a purge of this version; `operation_id` is the delete that waits for it."""
    return Purge(
        id=PurgeId(around.new_id("pur")),
        tenant_id=version.tenant_id,
        step=Step.PURGE,
        reason=order.reason,
        status=PurgeStatus.WAITING,
        space_id=version.space_id,
        document_id=version.document_id,
        version_id=version.id,
        native_document_id=order.native_document_id,
        operation_id=operation_id,
        due_at=order.due_at,
        created_at=now,
        updated_at=now,
    )


def issue_purges(conn: Connection, around: Surroundings, *, limit: int) -> int:
    """Issue up to `limit` purges that are due and whose version no command is out for; how many it was."""
    due = due_purges(conn, around.clock(), limit=limit)
    return issue_these(conn, {purge.id for purge in due}, around)


def issue_these(conn: Connection, purge_ids: Collection[str], around: Surroundings) -> int:
    """Issue those of the purges that still wait, one of each version at a time, or end them; how many it was.

    One is ended without a command when nothing is left that it could remove.
    """
    now = around.clock()
    purges = _one_of_each_version(_lock_waiting(conn, purge_ids))
    targets = _Targets(
        spaces=load_spaces(conn, {purge.space_id for purge in purges if purge.space_id is not None}),
        versions=load_versions(conn, {purge.version_id for purge in purges if purge.version_id is not None}),
        files=load_files(conn, {purge.file_id for purge in purges if purge.file_id is not None}),
    )
    rows, issued, gone = [], [], []
    for purge in purges:
        command = targets.command(purge, now, around.settings.deadline(purge.step))
        if command is None:
            gone.append(purge.finished(now))
        else:
            rows.append(outbox_row(command, traceparent=new_traceparent(), due_at=now, now=now))
            issued.append(purge.issued(now))
    save_purges(conn, [*issued, *gone])
    insert_commands(conn, rows)
    return len(issued) + len(gone)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Targets:
    """What purges are to remove, as far as it is there."""

    spaces: Mapping[str, Space]
    versions: Mapping[str, Version]
    files: Mapping[str, StoredFile]

    def command(self, purge: Purge, now: datetime, deadline: timedelta) -> PurgeVersion | PurgeFile | None:
        """The command of a purge; None when nothing is left that it could remove.

        Exactly one provider document is removed also when there is no such version: it bears the name of none.
        """
        space, file = self.spaces.get(str(purge.space_id)), self.files.get(str(purge.file_id))
        is_exact = purge.native_document_id is not None
        if space is not None and purge.version_id is not None and (is_exact or purge.version_id in self.versions):
            return build_purge(purge, purge.version_id, space, now=now, deadline=deadline)
        return None if file is None else build_file_purge(purge, file, now=now, deadline=deadline)


def _lock_waiting(conn: Connection, purge_ids: Collection[str]) -> list[Purge]:
    purges = load_purges(conn, purge_ids, lock=Lock.UPDATE).values()
    return [purge for purge in purges if purge.status is PurgeStatus.WAITING]


def _one_of_each_version(purges: Iterable[Purge]) -> list[Purge]:
    chosen: dict[str, Purge] = {}
    for purge in purges:
        chosen.setdefault(purge.version_id or purge.id, purge)
    return list(chosen.values())


def postpone_purge(conn: Connection, purge_id: str, around: Surroundings) -> None:
    """Make a purge whose command cannot be built wait, so that it does not stand in the way of others."""
    waiting = _lock_waiting(conn, {purge_id})
    now = around.clock()
    retry = around.settings.rules().retry
    save_purges(conn, [purge.postponed(retry, now, around.chance()) for purge in waiting])


def apply_purge_events(conn: Connection, events: Sequence[AnyEvent], around: Surroundings) -> list[Purge]:
    """Apply the events of purge commands; those that were ended or postponed."""
    terminal = [event for event in events if event.type in TERMINAL_EVENTS]
    if not terminal:
        return []
    now = around.clock()
    owners = {PurgeId(CommandId.parse(event.command_id).owner) for event in terminal}
    seen = load_purges(conn, owners)
    versions = load_versions(
        conn, {purge.version_id for purge in seen.values() if purge.version_id is not None}, lock=Lock.UPDATE
    )
    purges = load_purges(conn, owners, lock=Lock.UPDATE)
    changed = {}
    for event in terminal:
        purge = purges.get(PurgeId(CommandId.parse(event.command_id).owner))
        if purge is None or str(purge.command) != event.command_id or purge.status is not PurgeStatus.ISSUED:
            continue
        purges[purge.id] = changed[purge.id] = _after(purge, event, around, now)
    save_purges(conn, [changed[key] for key in sorted(changed)])
    done = [purge for purge in changed.values() if purge.status is PurgeStatus.DONE]
    _end_versions(conn, done, versions, around, now)
    delete_files(conn, {purge.file_id for purge in done if purge.file_id is not None})
    return list(changed.values())


def _after(purge: Purge, event: AnyEvent, around: Surroundings, now: datetime) -> Purge:
    if event.type is EventType.PURGED:
        return purge.finished(now)
    if isinstance(event, StepInterrupted) and event.reason is InterruptReason.SHUTDOWN:
        return purge.interrupted(now)
    return purge.failed(around.settings.rules().retry, now, around.chance())


def _end_versions(
    conn: Connection, done: Collection[Purge], versions: dict[str, Version], around: Surroundings, now: datetime
) -> None:
    """A version whose provider document is gone for good is DELETED, and its file may go with it."""
    origin = Origin(actor=Actor.PROJECTOR)
    ended: list[Version] = []
    entries: list[AuditEntry] = []
    for purge in done:
        version = versions.get(purge.version_id or "")
        if version is None or purge.reason not in ENDS_VERSION or version.status is VersionStatus.DELETED:
            continue
        versions[version.id] = after = version.moved(VersionStatus.DELETED, now)
        ended.append(after)
        entries.extend(record_transition(version, after, origin=origin, now=now, new_id=around.new_id))
    save_versions(conn, ended)
    write_entries(conn, entries)
    release_files(conn, {version.file_id for version in ended}, around, now)


def release_files(conn: Connection, file_ids: Collection[str], around: Surroundings, now: datetime) -> int:
    """Order the deletion of those files that no version and no unexpired resource needs; how many."""
    freed = mark_purging(conn, file_ids, now)
    insert_purges(
        conn,
        [
            Purge(
                id=PurgeId(around.new_id("pur")),
                tenant_id=file.tenant_id,
                step=Step.PURGE_FILE,
                reason=PurgeReason.DELETED,
                status=PurgeStatus.WAITING,
                file_id=file.id,
                due_at=now,
                created_at=now,
                updated_at=now,
            )
            for file in freed
        ],
    )
    return len(freed)
