"""Search, citations and download links over HTTP: requests and answers, with the limits the client checks."""

from collections import Counter
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from shared.contracts.body import Body, Unique, Whole
from shared.contracts.enums import LocationPrecision
from shared.contracts.ids import DocumentId, SpaceId, VersionId
from shared.contracts.metadata import DocumentMetadataOutput, MetadataFilter, normalise_metadata_filter
from shared.contracts.text import BusinessId, Id, Query
from shared.contracts.wire import Maybe, UtcTime

# Lengths are in Unicode code points.
MAX_HITS: Final = 8
MAX_HITS_PER_DOCUMENT: Final = 4
MAX_HIT_LENGTH: Final = 2500
MAX_TOTAL_LENGTH: Final = 16_000
MAX_CONTEXT_LENGTH: Final = 5000
DEFAULT_CONTEXT_LENGTH: Final = 1000
MAX_MATCH_LENGTH: Final = 2500
MAX_CITATION_LENGTH: Final = 12_500
DOWNLOAD_SECONDS: Final = 60

NO_EVIDENCE: Final = "NO_AUTHORIZED_RELEVANT_EVIDENCE"
LOOPBACK_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1"})

ContextLength = Annotated[int, Whole(0, MAX_CONTEXT_LENGTH)]
PageNumber = Annotated[int, Whole(1)]
ShownName = Annotated[str, Field(max_length=255)]
ShownQuery = Annotated[str, Field(max_length=4096)]
ChapterPath = Annotated[tuple[Annotated[str, Field(max_length=512)], ...], Field(max_length=20)]


def _read_filter(raw: object) -> MetadataFilter:
    return raw if isinstance(raw, MetadataFilter) else normalise_metadata_filter(raw)


class RetrievalRequest(Body):
    """Search. Ids and filter only narrow what the caller may see anyway."""

    query: Query
    knowledge_space_ids: Maybe[Annotated[tuple[Id[SpaceId], ...], Field(min_length=1, max_length=20), Unique()]] = None
    document_ids: Maybe[Annotated[tuple[Id[DocumentId], ...], Field(max_length=20), Unique()]] = None
    limit: Annotated[int, Whole(1, MAX_HITS)] = MAX_HITS
    metadata_filter: Maybe[Annotated[MetadataFilter, BeforeValidator(_read_filter)]] = None


class RetrievalHit(Body):
    """One piece of evidence and its citation."""

    citation_id: BusinessId
    document_id: Id[DocumentId]
    document_name: ShownName
    chapter_path: ChapterPath
    content: Annotated[str, Field(max_length=MAX_HIT_LENGTH)]
    score: Annotated[float, Field(ge=0, le=1)]
    location_precision: Maybe[LocationPrecision] = None
    page: Maybe[PageNumber] = None
    metadata: DocumentMetadataOutput


class RetrievalMatches(Body):
    """What a search found; `query` repeats the request's query exactly."""

    query: ShownQuery
    hits: Annotated[tuple[RetrievalHit, ...], Field(min_length=1, max_length=MAX_HITS)]
    trace_id: BusinessId

    @model_validator(mode="after")
    def _within_limits(self) -> Self:
        hits_by_document = Counter(hit.document_id for hit in self.hits)
        if max(hits_by_document.values()) > MAX_HITS_PER_DOCUMENT:
            raise ValueError(f"a document must not have more than {MAX_HITS_PER_DOCUMENT} hits")
        if sum(len(hit.content) for hit in self.hits) > MAX_TOTAL_LENGTH:
            raise ValueError(f"hits must not be longer than {MAX_TOTAL_LENGTH} code points together")
        return self


class RetrievalEmpty(Body):
    """A search that found nothing; never the answer to a provider's failure."""

    query: Maybe[ShownQuery] = None
    hits: Annotated[tuple[RetrievalHit, ...], Field(max_length=0)]
    trace_id: Maybe[BusinessId] = None
    reason: Literal["NO_AUTHORIZED_RELEVANT_EVIDENCE"]

    @classmethod
    def of(cls, query: str, trace_id: str) -> Self:
        """Nothing was found for `query`."""
        return cls(query=query, hits=(), trace_id=trace_id, reason=NO_EVIDENCE)


RetrievalResult = RetrievalMatches | RetrievalEmpty


class CitationContextQuery(Body):
    """How much text around a cited place is wanted, in code points."""

    context_before: ContextLength = DEFAULT_CONTEXT_LENGTH
    context_after: ContextLength = DEFAULT_CONTEXT_LENGTH


class CitationSource(Body):
    """A cited place with the text around it."""

    citation_id: BusinessId
    document_id: Id[DocumentId]
    version_id: Id[VersionId]
    document_name: ShownName
    chapter_path: Maybe[ChapterPath] = None
    page_start: Maybe[PageNumber] = None
    page_end: Maybe[PageNumber] = None
    before_content: Annotated[str, Field(max_length=MAX_CONTEXT_LENGTH)]
    matched_content: Annotated[str, Field(max_length=MAX_MATCH_LENGTH)]
    after_content: Annotated[str, Field(max_length=MAX_CONTEXT_LENGTH)]
    requested_context_before: ContextLength
    requested_context_after: ContextLength
    actual_context_before: ContextLength
    actual_context_after: ContextLength
    matched_content_truncated: bool
    location_precision: LocationPrecision

    @model_validator(mode="after")
    def _counts_are_true(self) -> Self:
        if self.actual_context_before != len(self.before_content):
            raise ValueError("actualContextBefore must be the length of beforeContent")
        if self.actual_context_after != len(self.after_content):
            raise ValueError("actualContextAfter must be the length of afterContent")
        if self.actual_context_before > self.requested_context_before:
            raise ValueError("there must not be more context before than was asked for")
        if self.actual_context_after > self.requested_context_after:
            raise ValueError("there must not be more context after than was asked for")
        return self

    @model_validator(mode="after")
    def _pages_are_in_order(self) -> Self:
        if self.page_start is not None and self.page_end is not None and self.page_end < self.page_start:
            raise ValueError("pageEnd must not come before pageStart")
        return self


def _must_be_safe(url: str) -> str:
    parts = urlsplit(url)
    is_local = parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS
    if not parts.hostname or not (is_local or parts.scheme == "https"):
        raise ValueError("must be an https address, or an http address of this machine")
    return url


DownloadUrl = Annotated[str, Field(max_length=4096, json_schema_extra={"format": "uri"}), AfterValidator(_must_be_safe)]


class DownloadLink(Body):
    """A link that fetches the active version's file for 60 seconds."""

    document_id: Id[DocumentId]
    version_id: Id[VersionId]
    file_name: Annotated[str, Field(max_length=1024)]
    mime_type: Annotated[str, Field(max_length=256)]
    file_size: Annotated[int, Whole(0)]
    download_url: DownloadUrl
    expires_at: UtcTime
    expires_in_seconds: Literal[60]
