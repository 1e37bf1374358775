"""Gathers what our rows say of versions, for whoever compares them with their provider; locked when it is to last."""

from collections import defaultdict
from collections.abc import Collection

from sqlalchemy import Connection

from shared.contracts.ids import SpaceId, VersionId
from shared.database.comparing import busy_documents, unanswered_versions
from shared.database.documents import load_documents
from shared.database.locking import Lock
from shared.database.purges import find_unsettled_purges
from shared.database.versions import load_versions
from shared.domain.purge import Purge
from shared.domain.reconciling import Standing


def load_standings(
    conn: Connection, space_id: SpaceId, version_ids: Collection[VersionId], *, lock: Lock = Lock.NONE
) -> dict[VersionId, Standing]:
    """Each version's standing; one that is not there, or in another space, has none but its purges.

    Documents are locked before their versions. Purges are read last: what ends a version orders them with it.
    """
    seen = load_versions(conn, version_ids)
    documents = load_documents(conn, {version.document_id for version in seen.values()}, lock=lock)
    versions = seen if lock is Lock.NONE else load_versions(conn, version_ids, lock=lock)
    busy = busy_documents(conn, documents.keys())
    unanswered = unanswered_versions(conn, documents.keys(), version_ids)
    purges = _unsettled(conn, version_ids)
    standings = {}
    for version_id in version_ids:
        version = versions.get(version_id)
        if version is None or version.space_id != space_id:
            standings[version_id] = Standing(purges=tuple(purges[version_id]))
            continue
        standings[version_id] = Standing(
            version=version,
            document=documents[version.document_id],
            is_busy=version.document_id in busy or version_id in unanswered,
            purges=tuple(purges[version_id]),
        )
    return standings


def _unsettled(conn: Connection, version_ids: Collection[VersionId]) -> defaultdict[str, list[Purge]]:
    found: defaultdict[str, list[Purge]] = defaultdict(list)
    for purge in find_unsettled_purges(conn, version_ids):
        found[str(purge.version_id)].append(purge)
    return found
