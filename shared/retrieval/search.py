"""Authorised search: pre-filter, provider, fusion, post-filter. Never empty for a failure or a switch of versions."""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Connection

from shared.auth.sealing import Sealer
from shared.contracts.enums import Action, SpaceStatus
from shared.contracts.ids import DocumentId, SpaceId
from shared.contracts.retrieval import RetrievalEmpty, RetrievalHit, RetrievalMatches, RetrievalRequest
from shared.contracts.text import js_trim
from shared.database.database import Database
from shared.database.listings import visible_documents, visible_spaces
from shared.database.searchable import SearchTarget, searchable_versions, still_searchable
from shared.database.spaces import load_spaces
from shared.domain.authorization import Reach, RoleTable, reach
from shared.domain.errors import (
    DocumentNotFound,
    FieldFault,
    ProviderUnavailable,
    SpaceDisabled,
    SpaceNotFound,
    absent_at,
)
from shared.domain.identity import Caller
from shared.domain.space import Space
from shared.providers.ports import ProviderReads, Question, Ranking, SpaceRef
from shared.retrieval.citations import CitedPlace, seal_citation
from shared.retrieval.fusion import Fused, fuse, select

PASSES = 3
"""One search, and at most two more when versions were switched under it."""

CANDIDATES = 64
"""Passages asked of each channel: enough for eight hits after the limit of four per document."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A fused passage and the version it belongs to."""

    target: SearchTarget
    fused: Fused


@dataclass(frozen=True, slots=True, kw_only=True)
class Searcher:
    """Searches for callers. `on_foreign` is told how many hits a provider returned that it was not asked for."""

    database: Database
    provider: ProviderReads
    sealer: Sealer
    roles: RoleTable
    on_foreign: Callable[[int], None]

    async def search(
        self, caller: Caller, request: RetrievalRequest, trace_id: str
    ) -> RetrievalMatches | RetrievalEmpty:
        """Evidence that the caller may see now; NotFound when an id in the request is not visible to them."""
        reached = reach(caller, Action.KNOWLEDGE_SEARCH, self.roles)
        for _ in range(PASSES):
            targets = await self.database.read(lambda conn: _targets(conn, reached, request))
            evidence = await self._find(targets, request)
            if await self._all_current(reached, evidence):
                return self._answer(caller, request, evidence, trace_id)
        raise ProviderUnavailable(
            "The documents searched were being replaced. Search again.", retry_after=timedelta(seconds=1)
        )

    async def _find(self, targets: Sequence[SearchTarget], request: RetrievalRequest) -> list[Evidence]:
        """Ask the provider for the targets alone. Without any, or with a blank question, there is nothing to ask."""
        if not targets or not js_trim(request.query):
            return []
        by_native_id = {target.native_document_id: target for target in targets}
        question = Question(text=request.query, allowed=_allowed(targets), limit=CANDIDATES)
        rankings = await self.provider.search(question)
        return [
            Evidence(by_native_id[fused.passage.native_document_id], fused)
            for fused in select(fuse(self._without_foreign(rankings, by_native_id)), request.limit)
        ]

    def _without_foreign(self, rankings: Sequence[Ranking], allowed: Collection[str]) -> list[Ranking]:
        """The second line of defence: drop and count what the provider was not asked for."""
        kept = [
            Ranking(
                channel=ranking.channel,
                passages=tuple(p for p in ranking.passages if p.native_document_id in allowed),
                weight=ranking.weight,
            )
            for ranking in rankings
        ]
        foreign = sum(len(ranking.passages) for ranking in rankings) - sum(len(ranking.passages) for ranking in kept)
        if foreign:
            self.on_foreign(foreign)
        return kept

    async def _all_current(self, reached: Reach, evidence: Sequence[Evidence]) -> bool:
        """Whether every version found is still the active one of a document that the caller may see."""
        wanted = {item.target.version_id for item in evidence}
        return not wanted or await self.database.read(lambda conn: still_searchable(conn, reached, wanted)) == wanted

    def _answer(
        self, caller: Caller, request: RetrievalRequest, evidence: Sequence[Evidence], trace_id: str
    ) -> RetrievalMatches | RetrievalEmpty:
        if not evidence:
            return RetrievalEmpty.of(request.query, trace_id)
        hits = tuple(_hit(item, self._citation(caller, item)) for item in evidence)
        return RetrievalMatches(query=request.query, hits=hits, trace_id=trace_id)

    def _citation(self, caller: Caller, item: Evidence) -> str:
        cited = CitedPlace(version_id=item.target.version_id, place=item.fused.passage.place)
        return seal_citation(self.sealer, caller.tenant, cited)


def _targets(conn: Connection, reached: Reach, request: RetrievalRequest) -> Sequence[SearchTarget]:
    """The versions that may be searched. Every id in the request is authorised, not only looked up."""
    if request.knowledge_space_ids is not None:
        _require_spaces(conn, reached, request.knowledge_space_ids)
    document_ids = request.document_ids or None
    if document_ids is not None:
        _require_documents(conn, reached, document_ids)
    return searchable_versions(
        conn,
        reached,
        space_ids=request.knowledge_space_ids,
        document_ids=document_ids,
        metadata=request.metadata_filter,
    )


def _require_spaces(conn: Connection, reached: Reach, space_ids: Sequence[SpaceId]) -> None:
    spaces = visible_spaces(conn, reached, space_ids)
    if len(spaces) < len(set(space_ids)):
        raise SpaceNotFound(faults=_absent("knowledgeSpaceIds", space_ids, spaces))
    _require_enabled(spaces.values())


def _require_enabled(spaces: Collection[Space]) -> None:
    """What is named in a search is searched, or the caller is told why not."""
    if any(space.status is SpaceStatus.DISABLED for space in spaces):
        raise SpaceDisabled


def _require_documents(conn: Connection, reached: Reach, document_ids: Sequence[DocumentId]) -> None:
    documents = visible_documents(conn, reached, document_ids)
    if len(documents) < len(set(document_ids)):
        raise DocumentNotFound(faults=_absent("documentIds", document_ids, documents))
    _require_enabled(load_spaces(conn, {document.space_id for document in documents.values()}).values())


def _absent(field: str, asked: Sequence[str], seen: Collection[str]) -> tuple[FieldFault, ...]:
    """The path of each id that names nothing the caller may see."""
    return tuple(absent_at(f"$.{field}[{place}]") for place, one in enumerate(asked) if one not in seen)


def _allowed(targets: Sequence[SearchTarget]) -> tuple[tuple[SpaceRef, tuple[str, ...]], ...]:
    """The targets by space, as a provider is asked."""
    spaces: dict[SpaceId, SpaceRef] = {}
    documents: dict[SpaceId, list[str]] = defaultdict(list)
    for target in targets:
        if target.space_id not in spaces:
            spaces[target.space_id] = SpaceRef(
                space_id=target.space_id, profile=target.profile, native_id=target.native_space_id
            )
        documents[target.space_id].append(target.native_document_id)
    return tuple((spaces[space_id], tuple(ids)) for space_id, ids in documents.items())


def _hit(item: Evidence, citation_id: str) -> RetrievalHit:
    passage, target = item.fused.passage, item.target
    return RetrievalHit(
        citation_id=citation_id,
        document_id=target.document_id,
        document_name=target.document_name,
        chapter_path=shown_path(passage.chapter_path),
        content=passage.text,
        score=item.fused.score,
        location_precision=passage.precision,
        page=passage.page_start,
        metadata=target.metadata,
    )


MAX_PATH = 20
MAX_PATH_ENTRY = 512


def shown_path(path: Sequence[str]) -> tuple[str, ...]:
    """A chapter path within the contract's limits: the outermost 20 headings, each cut at 512 code points."""
    return tuple(entry[:MAX_PATH_ENTRY] for entry in path[:MAX_PATH])
