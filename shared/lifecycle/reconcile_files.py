"""Compares stored files with the rows that name them, and puts right what is still wrong on the locked rows."""

from collections.abc import Collection, Iterable
from typing import Final

from sqlalchemy import Connection

from shared.contracts.enums import FindingKind, FindingOutcome, PurgeReason, Step
from shared.contracts.ids import FileId, PurgeId, TenantId
from shared.database.comparing import LiveFile, known_keys
from shared.database.files import StoredFile, insert_purging
from shared.database.purges import insert_purges
from shared.database.tables.files import FileStatus
from shared.domain.purge import Purge, PurgeStatus
from shared.domain.reconciling import CHANGED, Difference, Mended, shown
from shared.files.keys import is_own_key
from shared.files.store import ObjectStat
from shared.lifecycle.mending import Mending
from shared.lifecycle.purges import release_files

NOBODY: Final = TenantId("system")
"""Whose a deletion is when it cannot be told whose the object was; the dispatcher gives it turns like a tenant's."""
UNTOLD: Final = ""
"""The SHA-256 of an object that nobody has read."""


def unneeded_files(files: Iterable[LiveFile]) -> list[Difference]:
    """Those of these files that nothing names."""
    return [
        Difference(
            kind=FindingKind.UNNEEDED_FILE,
            explanation="No version and no uploaded resource names this file.",
            tenant_id=live.file.tenant_id,
            file_id=live.file.id,
        )
        for live in files
        if not live.is_named
    ]


def missing_object(file: StoredFile) -> Difference:
    """A file that is named and whose object is gone: only a person can bring it back."""
    return Difference(
        kind=FindingKind.MISSING_OBJECT,
        explanation=f"The object store has no object {shown(file.object_key)}. "
        "Restore it, or replace the documents that were made of it.",
        tenant_id=file.tenant_id,
        file_id=file.id,
    )


def unknown_objects(conn: Connection, objects: Collection[ObjectStat]) -> list[Difference]:
    """Those of these objects that no row names. The caller gives only such as are old enough."""
    known = known_keys(conn, [stat.key for stat in objects])
    return [
        Difference(
            kind=FindingKind.UNKNOWN_OBJECT,
            explanation=f"No row names the object {shown(stat.key)} of {stat.size} bytes.",
            tenant_id=None,
            object_key=stat.key,
            size=stat.size,
        )
        for stat in objects
        if stat.key not in known
    ]


def release_unneeded(conn: Connection, difference: Difference, mending: Mending) -> Mended:
    """Order the file's deletion, if nothing names it still."""
    around = mending.around
    if release_files(conn, {str(difference.file_id)}, around, around.clock()) == 0:
        return CHANGED
    return Mended(FindingOutcome.REPAIRED, "Its deletion is ordered.")


def delete_unknown(conn: Connection, difference: Difference, mending: Mending) -> Mended:
    """Have a worker delete the object as it deletes files: from now on a PURGING file names it, and nothing adopts it.

    A key that is none of ours was put there by somebody else.
    """
    if difference.object_key is None or not is_own_key(difference.object_key):
        return Mended(FindingOutcome.REPORTED, "The gateway gives no such keys, so it is not touched.")
    around, now = mending.around, mending.around.clock()
    file = StoredFile(
        id=FileId(around.new_id("fil")),
        tenant_id=NOBODY,
        sha256=UNTOLD,
        size=difference.size,
        object_key=difference.object_key,
        status=FileStatus.PURGING,
        created_at=now,
    )
    if not insert_purging(conn, file):
        return CHANGED
    purge = Purge(
        id=PurgeId(around.new_id("pur")),
        tenant_id=NOBODY,
        step=Step.PURGE_FILE,
        reason=PurgeReason.LEFTOVER,
        status=PurgeStatus.WAITING,
        file_id=file.id,
        due_at=now,
        created_at=now,
        updated_at=now,
    )
    insert_purges(conn, [purge])
    return Mended(FindingOutcome.REPAIRED, f"Its deletion is ordered by purge {purge.id}.")
