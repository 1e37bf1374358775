"""Compares a space's versions with what its provider showed, and puts right what is still wrong on the locked rows."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.contracts.enums import FindingKind, FindingOutcome, PurgeReason, SpaceStatus, Step
from shared.contracts.ids import PurgeId, SubjectId, TenantId, VersionId
from shared.database.comparing import ServedVersion
from shared.database.locking import Lock
from shared.database.purges import insert_purges
from shared.database.spaces import load_spaces
from shared.domain.audit import Actor
from shared.domain.identity import Caller
from shared.domain.purge import Purge, PurgeStatus
from shared.domain.reconciling import (
    CHANGED,
    Difference,
    Mended,
    SeenDocument,
    Standing,
    is_served,
    shown,
    why_missing,
    why_unneeded,
)
from shared.domain.space import Space
from shared.lifecycle.mending import Mending
from shared.lifecycle.reindex_document import reindex_into
from shared.lifecycle.request import Request
from shared.lifecycle.slots import OpenSlot
from shared.lifecycle.standings import load_standings
from shared.telemetry.stamps import new_traceparent

SYSTEM: Final = SubjectId("knowgate.reconciler")
"""Who an operation of the reconciler's own is by."""
WHY_REINDEXED: Final = "The provider no longer served the active version."


def compare_seen(
    conn: Connection, space: Space, seen: Sequence[SeenDocument], settled_before: datetime
) -> list[Difference]:
    """Which of these provider documents nothing needs, and which are not of our kind."""
    named = {document.version_id for document in seen if document.version_id is not None}
    standings = load_standings(conn, space.id, named)
    return [
        difference
        for document in seen
        if (difference := _compare_one(space, document, standings, settled_before)) is not None
    ]


def _compare_one(
    space: Space, document: SeenDocument, standings: Mapping[VersionId, Standing], settled_before: datetime
) -> Difference | None:
    if document.version_id is None:
        return Difference(
            kind=FindingKind.FOREIGN_PROVIDER_DOCUMENT,
            explanation=f"The provider holds document {shown(document.native_id)} by the name {shown(document.name)}, "
            "which is none that the gateway gives. It is never touched.",
            tenant_id=space.tenant_id,
            space_id=space.id,
        )
    standing = standings[document.version_id]
    why = why_unneeded(document.native_id, standing, settled_before)
    if why is None:
        return None
    return Difference(
        kind=FindingKind.UNKNOWN_PROVIDER_DOCUMENT,
        explanation=f"Nothing needs the provider's document {shown(document.native_id)}. {why}",
        tenant_id=space.tenant_id,
        space_id=space.id,
        document_id=None if standing.version is None else standing.version.document_id,
        version_id=document.version_id,
        native_document_id=document.native_id,
    )


def compare_served(
    conn: Connection,
    space: Space,
    served: Collection[ServedVersion],
    seen: Mapping[str, SeenDocument],
    settled_before: datetime,
) -> list[Difference]:
    """Which of these active versions the provider does not serve. `seen`: all that it showed, by native id."""
    standings = load_standings(conn, space.id, {one.version_id for one in served})
    return [
        Difference(
            kind=FindingKind.MISSING_PROVIDER_DOCUMENT,
            explanation=why,
            tenant_id=space.tenant_id,
            space_id=space.id,
            document_id=one.document_id,
            version_id=one.version_id,
        )
        for one in served
        if (why := why_missing(standings[one.version_id], seen, settled_before)) is not None
    ]


def purge_unneeded(conn: Connection, difference: Difference, mending: Mending) -> Mended:
    """Order the removal of exactly that provider document, if nothing needs it still."""
    space = _held_space(conn, difference)
    if space is None or difference.version_id is None or difference.native_document_id is None:
        return CHANGED
    standing = load_standings(conn, space.id, {difference.version_id}, lock=Lock.UPDATE)[difference.version_id]
    if why_unneeded(difference.native_document_id, standing, mending.settled_before) is None:
        return CHANGED
    around, now = mending.around, mending.around.clock()
    purge = Purge(
        id=PurgeId(around.new_id("pur")),
        tenant_id=space.tenant_id,
        step=Step.PURGE,
        reason=PurgeReason.LEFTOVER,
        status=PurgeStatus.WAITING,
        space_id=space.id,
        document_id=difference.document_id,
        version_id=difference.version_id,
        native_document_id=difference.native_document_id,
        due_at=now,
        created_at=now,
        updated_at=now,
    )
    insert_purges(conn, [purge])
    return Mended(FindingOutcome.REPAIRED, f"Its removal is ordered by purge {purge.id}.")


def reindex_missing(conn: Connection, difference: Difference, mending: Mending) -> Mended:
    """Have the file indexed anew, if the version is active still and nothing runs on its document.

    A version that failed or was cancelled keeps its slot: so this is tried once, and nobody's retry is taken away.
    """
    space = _held_space(conn, difference)
    if space is None or difference.version_id is None:
        return CHANGED
    standing = load_standings(conn, space.id, {difference.version_id}, lock=Lock.UPDATE)[difference.version_id]
    document = standing.document
    if document is None or standing.is_busy or not is_served(standing):
        return CHANGED
    if space.status is not SpaceStatus.ACTIVE:
        return Mended(FindingOutcome.REPORTED, "Its space takes no work now.")
    if document.candidate_version_id is not None:
        return Mended(
            FindingOutcome.REPORTED,
            "A version that failed or was cancelled holds its slot: retry that operation, or reindex the document.",
        )
    slot = OpenSlot(space=space, document=document, candidate=None)
    accepted = reindex_into(conn, slot, _request(space.tenant_id, mending), mending.around, reason=WHY_REINDEXED)
    return Mended(FindingOutcome.REPAIRED, f"It is indexed anew by operation {accepted.work.operation.id}.")


def _request(tenant_id: TenantId, mending: Mending) -> Request:
    """What stands in for a caller's request."""
    return Request(
        caller=Caller(tenant=tenant_id, subject=SYSTEM, session_id=mending.reconciliation_id, service="projector"),
        roles={},
        traceparent=new_traceparent(),
        request_id=mending.reconciliation_id,
        tool_call_id=mending.reconciliation_id,
        actor=Actor.PROJECTOR,
    )


def _held_space(conn: Connection, difference: Difference) -> Space | None:
    """The space, locked against being deleted; None when it is on its way out."""
    space_id = str(difference.space_id)
    space = load_spaces(conn, {space_id}, lock=Lock.SHARE).get(space_id)
    return space if space is not None and space.status in {SpaceStatus.ACTIVE, SpaceStatus.DISABLED} else None
