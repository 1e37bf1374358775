"""What a comparison of our rows with provider and object store comes to. Pure: others look, this tells.

A list of a provider may lag behind, and rows move while it is read. So nothing is judged that has changed a little
while ago or that anything works on, and whoever repairs decides once more on the locked rows.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from shared.contracts.enums import DocumentStatus, FindingKind, FindingOutcome, VersionStatus
from shared.contracts.ids import DocumentId, FileId, OperationId, SpaceId, TenantId, VersionId
from shared.contracts.operating import MOST_FINDINGS, Finding
from shared.contracts.wire import format_time
from shared.domain.document import Document
from shared.domain.operation import Operation
from shared.domain.purge import Purge, PurgeStatus
from shared.domain.unfinished import Explanation, still_since
from shared.domain.version import Version

UNKNOWN_OBJECT_AGE: Final = timedelta(hours=24)
"""An object without a row is younger than this while its upload may still be under way."""
MANY_MISSING: Final = 10
"""More than so many, and more than half of a space, do not go missing one by one: then the provider is wrong."""
LONGEST_NAME: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenDocument:
    """A provider document as a list showed it."""

    native_id: str
    name: str
    version_id: VersionId | None
    """The version whose name it bears; None: the name is not of our kind."""
    is_served: bool
    """It is done and has chunks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """All that our rows say of a version that a provider document bears the name of, or that a document serves."""

    version: Version | None = None
    """None: there is no such version in the space."""
    document: Document | None = None
    is_busy: bool = False
    """Something runs on its document, or a command of its operation is not answered."""
    purges: tuple[Purge, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Something that is not as it should be, with what is needed to put it right."""

    kind: FindingKind
    explanation: str
    tenant_id: TenantId | None
    space_id: SpaceId | None = None
    document_id: DocumentId | None = None
    version_id: VersionId | None = None
    operation_id: OperationId | None = None
    file_id: FileId | None = None
    native_document_id: str | None = None
    object_key: str | None = None
    size: int = 0
    """Bytes of the object."""


@dataclass(frozen=True, slots=True)
class Mended:
    """What was done about a difference; `note` when there is more to say than what was found."""

    outcome: FindingOutcome
    note: str | None = None

    def finding(self, difference: Difference) -> Finding:
        """The difference as a report names it."""
        explanation = difference.explanation if self.note is None else f"{difference.explanation} {self.note}"
        return Finding(
            kind=difference.kind,
            outcome=self.outcome,
            space_id=difference.space_id,
            document_id=difference.document_id,
            version_id=difference.version_id,
            operation_id=difference.operation_id,
            file_id=difference.file_id,
            explanation=explanation,
        )


REPORTED: Final = Mended(FindingOutcome.REPORTED)
CHANGED: Final = Mended(FindingOutcome.CHANGED, "It was not so any more when it was to be repaired.")


@dataclass(frozen=True, slots=True)
class Tally:
    """How many of each kind were found, all of them counted and the first of each kind named."""

    totals: Mapping[FindingKind, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def plus(self, found: Iterable[Finding]) -> "Tally":
        """The tally with more findings."""
        totals = Counter(self.totals)
        named = Counter(finding.kind for finding in self.findings)
        more = []
        for finding in found:
            totals[finding.kind] += 1
            if named[finding.kind] < MOST_FINDINGS:
                named[finding.kind] += 1
                more.append(finding)
        return Tally(dict(totals), (*self.findings, *more))

    def counting(self, kind: FindingKind, number: int) -> "Tally":
        """The tally with so many more of a kind that nobody names."""
        return Tally({**self.totals, kind: self.totals.get(kind, 0) + number}, self.findings)

    def repaired(self) -> "Tally":
        """What stays true when the comparison begins anew after its projector died: what was repaired."""
        kept = [finding for finding in self.findings if finding.outcome is FindingOutcome.REPAIRED]
        return Tally().plus(kept)


def why_unneeded(native_id: str, standing: Standing, settled_before: datetime) -> str | None:
    """Why nothing of ours needs a provider document that bears our kind of name; None while something may.

    What is true stays true: a version that is over never comes back, and a recorded native id never changes again.
    """
    version = standing.version
    if _is_being_purged(native_id, standing.purges) or standing.is_busy:
        return None
    if version is None:
        return "There is no version of this name in the space."
    if version.updated_at > settled_before:
        return None
    if version.is_over:
        return f"Its version is {version.status.value}."
    if version.status is VersionStatus.FAILED:
        return None if _holds_slot(version, standing.document) else "Its version has FAILED and lost its slot."
    if version.status is VersionStatus.READY and version.native_document_id not in {None, native_id}:
        return f"It is a second one of its version, which is served by {version.native_document_id}."
    return None


def why_missing(standing: Standing, seen: Mapping[str, SeenDocument], settled_before: datetime) -> str | None:
    """Why an active version cannot be served; None when it can, or cannot be judged now. `seen`: by native id."""
    version = standing.version
    if version is None or standing.is_busy or not is_served(standing) or version.updated_at > settled_before:
        return None
    found = seen.get(str(version.native_document_id))
    if found is None:
        return f"The provider has no document {version.native_document_id}."
    if not found.is_served:
        return f"The provider's document {version.native_document_id} is not done any more, or has no chunks."
    return None


def is_served(standing: Standing) -> bool:
    """Whether the version is the READY active one of a document that has been created and is not leaving."""
    version, document = standing.version, standing.document
    return (
        version is not None
        and document is not None
        and version.status is VersionStatus.READY
        and document.active_version_id == version.id
        and document.status in {DocumentStatus.ACTIVE, DocumentStatus.DISABLED}
    )


def overdue(operation: Operation, why: Explanation) -> Difference:
    """An operation that has been still for too long. What is lost of it is published again by itself."""
    return Difference(
        kind=FindingKind.OVERDUE_OPERATION,
        explanation=f"{why.reason.value} since {format_time(still_since(operation))}. {why.sentence}",
        tenant_id=operation.tenant_id,
        space_id=operation.space_id,
        document_id=operation.document_id,
        version_id=operation.version_id,
        operation_id=operation.id,
    )


def are_too_many(missing: int, served: int) -> bool:
    """Whether so many are missing that it is the provider's answer that cannot be believed."""
    return missing > MANY_MISSING and 2 * missing > served


def _is_being_purged(native_id: str, purges: Collection[Purge]) -> bool:
    """Whether a purge that is not settled will remove it: by its own id, or with all that bear the name."""
    return any(
        purge.status is not PurgeStatus.DONE and purge.native_document_id in {None, native_id} for purge in purges
    )


def _holds_slot(version: Version, document: Document | None) -> bool:
    return document is not None and document.candidate_version_id == version.id


def shown(name: str) -> str:
    """A name that others gave, as it may stand in a sentence: shortened, and without control characters."""
    return ascii(name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}...")
