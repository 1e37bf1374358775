"""Search, and reading a citation back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from services.api.audit.trail import AuditTrail
from services.api.edge.answers import Answer, found
from services.api.edge.call import Call, Handler
from shared.contracts.enums import ResourceType
from shared.contracts.errors import ErrorCode, RequestRefused
from shared.contracts.reading import FAULTS
from shared.contracts.retrieval import CitationContextQuery, RetrievalMatches, RetrievalRequest
from shared.contracts.route import Route
from shared.contracts.routes import SEARCH, SOURCE_READ
from shared.retrieval.citation_reader import CitationReader
from shared.retrieval.search import Searcher

OUT_OF_RANGE: Final = FAULTS["less_than_equal"][0]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalRoutes:
    """Search and citations."""

    searcher: Searcher
    citations: CitationReader
    trail: AuditTrail

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {SEARCH: self.search, SOURCE_READ: self.read_citation}

    async def search(self, call: Call) -> Answer:
        """Evidence that the caller may see."""
        request = await call.read(RetrievalRequest)
        result = await self.searcher.search(call.caller, request, call.stamps.trace_id)
        hits = result.hits if isinstance(result, RetrievalMatches) else ()
        documents = ",".join(dict.fromkeys(hit.document_id for hit in hits))
        await self.trail.read(call, None, None, {"hits": len(hits), "documents": documents})
        return found(result)

    async def read_citation(self, call: Call) -> Answer:
        """A cited place with the text around it."""
        citation_id = call.id("citationId", str)
        query = _context_query(call)
        source = await self.citations.read(call.caller, citation_id, query)
        await self.trail.read(call, ResourceType.DOCUMENT, source.document_id, {"version": source.version_id})
        return found(source)


def _context_query(call: Call) -> CitationContextQuery:
    """How much context is wanted; a size out of range has a code of its own, which tells an agent what is allowed."""
    try:
        return call.query(CitationContextQuery)
    except RequestRefused as refused:
        if any(error.reason == OUT_OF_RANGE for error in refused.field_errors):
            raise RequestRefused(ErrorCode.INVALID_CONTEXT_RANGE, refused.field_errors) from None
        raise
