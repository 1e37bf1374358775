"""The load that only asks: searches and citations, of one's own and of what is another tenant's."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Final

import anyio

from shared.client.errors import BrokenAnswer, Refused
from shared.contracts.ids import DocumentId
from shared.contracts.retrieval import RetrievalRequest, RetrievalResult
from shared.domain.errors import Transient
from tests.chaos.oracle.world import Answer, Hit
from tests.chaos.tenants import Tenant
from tests.chaos.texts import QUERY, marks_in

BETWEEN: Final = 0.15
"""Seconds between two questions of one asker, on the average."""
MOST_CITATIONS: Final = 200
INTERNAL: Final = 500
ABSENT: Final = 404


class Asker:
    """One caller of a tenant that asks, one question after the other; what is asked for once more is a new question."""

    def __init__(self, tenant: Tenant, others: Sequence[Tenant], stop: anyio.Event) -> None:
        self._tenant = tenant
        self._others = others
        self._dice = tenant.dice
        self._stop = stop

    async def run(self) -> None:
        """Ask until it is time to stop."""
        asks = (self._search_stable, self._search_stable, self._search_all, self._read, self._peep)
        while not self._stop.is_set():
            try:
                await self._dice.choice(asks)()
            except Transient:
                self._tenant.ledger.unavailable += 1
            except Refused as refused:
                self._tenant.ledger.refused[refused.answer.code] += 1
                if refused.answer.status == INTERNAL:
                    self._tenant.ledger.strange[f"asking: {refused.answer}"] += 1
            except BrokenAnswer as broken:
                self._tenant.ledger.strange[str(broken)] += 1
            with anyio.move_on_after(self._dice.expovariate(1 / BETWEEN)):
                await self._stop.wait()

    async def _search_stable(self) -> None:
        """A document that is there all the time is always found."""
        served = self._served()
        if served:
            await self._search((self._dice.choice(served),), frozenset(served))

    async def _search_all(self) -> None:
        served = self._served()
        await self._search(None, frozenset(served) if self._is_small() else frozenset())

    def _served(self) -> list[DocumentId]:
        return [page.document_id for page in self._tenant.pages.values() if page.is_stable and page.is_served]

    def _is_small(self) -> bool:
        """Whether a search for everything would have to show a stable document; others may fill its eight places."""
        return len(self._tenant.pages) == len(self._served())

    async def _search(self, documents: tuple[DocumentId, ...] | None, served: frozenset[str]) -> None:
        asked_at = datetime.now(UTC)
        found = await self._tenant.asking.search(RetrievalRequest(query=QUERY, document_ids=documents))
        expected = frozenset[str](documents) if documents is not None else served
        self._keep(asked_at, found, expected)

    def _keep(self, asked_at: datetime, found: RetrievalResult, expected: frozenset[str]) -> None:
        hits = tuple(Hit(document_id=hit.document_id, marks=marks_in(hit.content)) for hit in found.hits)
        self._tenant.citations = [*self._tenant.citations, *(hit.citation_id for hit in found.hits)][-MOST_CITATIONS:]
        self._answered(asked_at, hits, expected)

    async def _read(self) -> None:
        """Follow a citation of an earlier answer; it may be gone by now."""
        if not self._tenant.citations:
            return
        asked_at = datetime.now(UTC)
        source = await self._tenant.asking.read_citation(self._dice.choice(self._tenant.citations))
        text = source.before_content + source.matched_content + source.after_content
        hit = Hit(document_id=source.document_id, marks=marks_in(text), version_id=source.version_id)
        self._answered(asked_at, (hit,), frozenset())

    def _answered(self, asked_at: datetime, hits: tuple[Hit, ...], expected: frozenset[str]) -> None:
        answer = Answer(
            tenant=self._tenant.name,
            asked_at=asked_at,
            answered_at=datetime.now(UTC),
            hits=hits,
            expected=expected,
        )
        self._tenant.ledger.answers.append(answer)

    async def _peep(self) -> None:
        """Ask for another tenant's things by their ids: there are none."""
        other = self._dice.choice(self._others)
        document_id, operation_id = next(iter(other.pages), None), next(iter(other.running), None)
        citation = other.citations[-1] if other.citations else None
        asking = self._tenant.asking
        if document_id is not None:
            await self._refused(other, document_id, lambda: asking.get_document(document_id))
            wanted = RetrievalRequest(query=QUERY, document_ids=(document_id,))
            await self._refused(other, document_id, lambda: asking.search(wanted))
        if operation_id is not None:
            await self._refused(other, operation_id, lambda: asking.get_operation(operation_id))
        if citation is not None:
            await self._refused(other, citation, lambda: asking.read_citation(citation))

    async def _refused(self, other: Tenant, what: str, ask: Callable[[], Awaitable[object]]) -> None:
        try:
            answer = await ask()
        except Refused as refused:
            if refused.answer.status == ABSENT:
                return
            answer = refused.answer
        self._tenant.ledger.foreign.append(f"{self._tenant.name} asked for {what} of {other.name} and got {answer}")
