"""Carries accepted deletes of documents on: their purges once nothing else runs, their end once all of it is gone.

Each happens in the transaction of what brought it about, which has locked the documents and operations by then.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from shared.contracts.enums import DocumentStatus, PurgeReason
from shared.database.audit import write_entries
from shared.database.documents import load_documents, save_documents
from shared.database.operations import find_deletes_at_rest, load_operations, save_operations
from shared.database.purges import find_purges_of, insert_purges, lock_waiting_purges, save_purges
from shared.database.versions import lock_remaining_versions
from shared.domain.audit import AuditEntry, Origin
from shared.domain.deletion import after_purges, is_purged, purging
from shared.domain.operation import Operation
from shared.domain.outcomes import purge_of
from shared.domain.purge import Purge
from shared.lifecycle.purges import version_purge
from shared.lifecycle.recording import Stateful, record_transition
from shared.lifecycle.surroundings import Surroundings


def begin_deletes(
    conn: Connection, document_ids: Collection[str], origin: Origin, around: Surroundings, now: datetime
) -> None:
    """Order the purges of those documents that are being deleted and that nothing else runs on any more."""
    deletes = find_deletes_at_rest(conn, document_ids)
    if not deletes:
        return
    waited_for = order_purges(conn, deletes, around, now)
    tell = _Teller(origin, around, now)
    begun = [purging(delete, now) for delete in deletes]
    save_operations(conn, begun)
    entries = [entry for delete, then in zip(deletes, begun, strict=True) for entry in tell(then, delete, then)]
    write_entries(conn, entries)
    settle_deletes(conn, {delete.id for delete in deletes} - waited_for, origin, around, now)


def order_purges(conn: Connection, deletes: Iterable[Operation], around: Surroundings, now: datetime) -> set[str]:
    """One for each version that is left; returns the deletes that have any.

    A purge that waits untried is taken over, one that is out already goes on as it is.
    """
    owners = {str(delete.document_id): delete.id for delete in deletes}
    versions = lock_remaining_versions(conn, owners.keys())
    waiting = lock_waiting_purges(conn, {version.id for version in versions})
    untried = {str(purge.version_id): purge for purge in waiting if purge.is_untried}
    ordered, taken_over = [], []
    for version in versions:
        owner = owners[version.document_id]
        if version.id in untried:
            taken_over.append(untried[version.id].taken_over(owner, now))
        else:
            order = purge_of(version, PurgeReason.DELETED, now)
            ordered.append(version_purge(version, order, around, now, operation_id=owner))
    save_purges(conn, taken_over)
    insert_purges(conn, ordered)
    return {owners[version.document_id] for version in versions}


def settle_deletes(
    conn: Connection, operation_ids: Collection[str], origin: Origin, around: Surroundings, now: datetime
) -> None:
    """What answers to their purges make of deletes: retries that count, an end, and documents that are gone.

    A delete may be out of retries before its purges are through; its document is DELETED when they are.
    """
    if not operation_ids:
        return
    deletes = load_operations(conn, operation_ids)
    documents = load_documents(conn, {str(delete.document_id) for delete in deletes.values()})
    purges = _by_delete(find_purges_of(conn, operation_ids))
    tell = _Teller(origin, around, now)
    settled, gone = [], []
    entries: list[AuditEntry] = []
    for key, delete in deletes.items():
        then = after_purges(delete, purges[key], now)
        settled.append(then)
        entries += tell(then, delete, then)
        if is_purged(purges[key]):
            document = documents[str(delete.document_id)]
            gone.append(document.moved(DocumentStatus.DELETED, now))
            entries += tell(then, document, gone[-1])
    save_documents(conn, gone)
    save_operations(conn, settled)
    write_entries(conn, entries)


def _by_delete(purges: Iterable[Purge]) -> defaultdict[str, list[Purge]]:
    found: defaultdict[str, list[Purge]] = defaultdict(list)
    for purge in purges:
        found[str(purge.operation_id)].append(purge)
    return found


@dataclass(frozen=True, slots=True)
class _Teller:
    """Makes the audit entries of one transaction's changes."""

    origin: Origin
    around: Surroundings
    now: datetime

    def __call__(self, delete: Operation, before: Stateful, after: Stateful) -> Iterator[AuditEntry]:
        return record_transition(
            before, after, origin=self.origin, now=self.now, new_id=self.around.new_id, operation=delete
        )
