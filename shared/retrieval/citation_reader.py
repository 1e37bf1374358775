"""Reads a citation back: opened with the caller's tenant, authorised again, only from the active version."""

from dataclasses import dataclass

from shared.auth.sealing import Sealer
from shared.contracts.enums import Action
from shared.contracts.retrieval import MAX_MATCH_LENGTH, CitationContextQuery, CitationSource
from shared.database.database import Database
from shared.database.searchable import SearchTarget, searchable_version
from shared.domain.authorization import RoleTable, reach
from shared.domain.errors import NotFound
from shared.domain.identity import Caller
from shared.providers.ports import Context, Place, ProviderReads, SpaceRef
from shared.retrieval.citations import open_citation
from shared.retrieval.search import shown_path


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationReader:
    """Reads citations for callers."""

    database: Database
    provider: ProviderReads
    sealer: Sealer
    roles: RoleTable

    async def read(self, caller: Caller, citation_id: str, query: CitationContextQuery) -> CitationSource:
        """The cited place with what stands around it; NotFound unless its version still serves.

        A citation is never moved to a newer version: what was cited is what is read, or nothing.
        """
        reached = reach(caller, Action.DOCUMENT_VIEW, self.roles)
        cited = open_citation(self.sealer, caller.tenant, citation_id)
        target = await self.database.read(lambda conn: searchable_version(conn, reached, cited.version_id))
        if target is None:
            raise NotFound
        space = SpaceRef(space_id=target.space_id, profile=target.profile, native_id=target.native_space_id)
        place, is_truncated = _readable(cited.place)
        context = await self.provider.read(
            space, target.native_document_id, place, query.context_before, query.context_after
        )
        return _source(citation_id, target, context, query, is_truncated)


def _readable(place: Place) -> tuple[Place, bool]:
    """The part of the place that an answer may hold, and whether that is less than all of it."""
    if place.chunk is not None or place.end - place.start <= MAX_MATCH_LENGTH:
        return place, False
    return Place(start=place.start, end=place.start + MAX_MATCH_LENGTH), True


def _source(
    citation_id: str, target: SearchTarget, context: Context, query: CitationContextQuery, is_truncated: bool
) -> CitationSource:
    before = context.before[-query.context_before :] if query.context_before else ""
    after = context.after[: query.context_after]
    matched = context.matched[:MAX_MATCH_LENGTH]
    return CitationSource(
        citation_id=citation_id,
        document_id=target.document_id,
        version_id=target.version_id,
        document_name=target.document_name,
        chapter_path=shown_path(context.chapter_path) or None,
        page_start=context.page_start,
        page_end=context.page_end,
        before_content=before,
        matched_content=matched,
        after_content=after,
        requested_context_before=query.context_before,
        requested_context_after=query.context_after,
        actual_context_before=len(before),
        actual_context_after=len(after),
        matched_content_truncated=is_truncated or len(matched) < len(context.matched),
        location_precision=context.precision,
    )
