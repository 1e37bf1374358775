"""A document: its states, its two version slots, and the moves that callers ask for."""

from dataclasses import dataclass, replace
from datetime import datetime

from shared.contracts.enums import DocumentStatus, VersionStatus
from shared.contracts.ids import DocumentId, SpaceId, SubjectId, TenantId, VersionId
from shared.contracts.metadata import DocumentMetadataOutput, DocumentMetadataPatch
from shared.domain.errors import Conflict, DocumentNotFound, OperationPending, StaleVersion
from shared.domain.transitions import Table, move
from shared.domain.version import RUNNING, Version

DOCUMENT_MOVES: Table[DocumentStatus] = {
    DocumentStatus.CREATING: frozenset({DocumentStatus.ACTIVE, DocumentStatus.CREATE_FAILED, DocumentStatus.DELETING}),
    DocumentStatus.ACTIVE: frozenset({DocumentStatus.DISABLED, DocumentStatus.DELETING}),
    DocumentStatus.DISABLED: frozenset({DocumentStatus.ACTIVE, DocumentStatus.DELETING}),
    DocumentStatus.CREATE_FAILED: frozenset({DocumentStatus.CREATING, DocumentStatus.DELETING}),
    DocumentStatus.DELETING: frozenset({DocumentStatus.DELETED}),
    DocumentStatus.DELETED: frozenset(),
}

HIDDEN = frozenset({DocumentStatus.DELETING, DocumentStatus.DELETED})
"""In these a document is invisible: reads, search, citations and downloads answer 404."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document with its two slots: the version that serves, and the one on its way."""

    id: DocumentId
    tenant_id: TenantId
    space_id: SpaceId
    name: str
    status: DocumentStatus
    metadata: DocumentMetadataOutput
    lock_version: int
    active_version_id: VersionId | None
    candidate_version_id: VersionId | None
    last_version_number: int
    created_by: SubjectId
    created_at: datetime
    updated_at: datetime

    def moved(self, status: DocumentStatus, now: datetime) -> "Document":
        """The document in another status."""
        return replace(self, status=move(DOCUMENT_MOVES, self.status, status), updated_at=now)

    def creation_failed(self, now: datetime) -> "Document":
        """The document after its candidate failed or was cancelled; only a first version changes its status."""
        if self.status is DocumentStatus.CREATING:
            return self.moved(DocumentStatus.CREATE_FAILED, now)
        return self

    @property
    def is_hidden(self) -> bool:
        """True when the document is being deleted or is gone."""
        return self.status in HIDDEN


def require_current(document: Document, expected_version: int) -> None:
    """Refuse a change made from an old reading."""
    if document.lock_version != expected_version:
        raise StaleVersion(
            f"The document is at version {document.lock_version}, not {expected_version}. Read it again.",
        )


def require_free_slot(document: Document, candidate: Version | None) -> None:
    """Refuse a second change while a candidate is on its way."""
    if candidate is not None and candidate.status in RUNNING:
        raise OperationPending("Another version of the document is being worked on. Wait for its operation.")


def accept_replacement(document: Document, candidate: Version | None, version: Version, now: datetime) -> Document:
    """The document with `version` in its candidate slot: one change of a document at a time.

    A FAILED or CANCELLED candidate gives up its slot; a running one keeps it. On CREATE_FAILED the
    document is being created again.
    """
    if document.is_hidden:
        raise DocumentNotFound
    require_free_slot(document, candidate)
    status = document.status
    if status is DocumentStatus.CREATE_FAILED:
        status = move(DOCUMENT_MOVES, status, DocumentStatus.CREATING)
    return replace(
        document,
        status=status,
        candidate_version_id=version.id,
        last_version_number=version.number,
        lock_version=document.lock_version + 1,
        updated_at=now,
    )


def require_reindexable(document: Document, active: Version | None) -> Version:
    """The version that is to be indexed again; only a document that has one can be."""
    if document.status not in {DocumentStatus.ACTIVE, DocumentStatus.DISABLED} or active is None:
        raise Conflict("Only a document with an active version can be reindexed.")
    return active


def described(document: Document, name: str | None, patch: DocumentMetadataPatch | None, now: datetime) -> Document:
    """The document with what was given of a name and of metadata; allowed in every status in which it is seen."""
    if document.is_hidden:
        raise DocumentNotFound
    return replace(
        document,
        name=document.name if name is None else name,
        metadata=document.metadata if patch is None else patch.apply_to(document.metadata),
        lock_version=document.lock_version + 1,
        updated_at=now,
    )


def switched(document: Document, enabled: bool, now: datetime) -> Document:
    """The document enabled or disabled; unchanged if it is so already."""
    wanted = DocumentStatus.ACTIVE if enabled else DocumentStatus.DISABLED
    if document.status not in {DocumentStatus.ACTIVE, DocumentStatus.DISABLED}:
        raise Conflict("Only a document that has been created can be enabled or disabled.")
    if document.status is wanted:
        return document
    return replace(document.moved(wanted, now), lock_version=document.lock_version + 1)


def is_searchable(document: Document, active: Version | None) -> bool:
    """Whether the document takes part in search (contract rule D1)."""
    return document.status is DocumentStatus.ACTIVE and active is not None and active.status is VersionStatus.READY
