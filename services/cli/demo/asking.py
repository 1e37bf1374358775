"""Asks questions through the gateway and reads what it cites back from the source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import anyio

from services.cli.demo.corpus import Question
from shared.client.errors import Refused
from shared.client.gateway import Gateway
from shared.contracts.ids import DocumentId, SpaceId
from shared.contracts.retrieval import CitationSource, RetrievalHit, RetrievalMatches, RetrievalRequest

AT_ONCE = 4
CONTEXT = 400
"""Code points of text wanted before and after a cited place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What came of one question."""

    question: Question
    is_right_first: bool
    """The first hit is of a document that answers it."""
    is_right_cited: bool
    """Such a document is among the hits, and what was cited could be read back."""
    first: RetrievalHit | None = None
    source: CitationSource | None = None
    """Where the first hit stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interview:
    """Questions to one space."""

    gateway: Gateway
    space_id: SpaceId
    names: Mapping[DocumentId, str]
    """The documents' files, without ending."""

    async def ask_all(self, questions: Sequence[Question]) -> list[Asked]:
        """Ask every question, a few at a time; the answers are in the order of the questions."""
        answers: list[Asked | None] = [None] * len(questions)
        waiting = iter(enumerate(questions))

        async def take_turns() -> None:
            for number, question in waiting:
                answers[number] = await self._ask(question)

        async with anyio.create_task_group() as tasks:
            for _ in range(AT_ONCE):
                tasks.start_soon(take_turns)
        return [answer for answer in answers if answer is not None]

    async def _ask(self, question: Question) -> Asked:
        request = RetrievalRequest(query=question.question, knowledge_space_ids=(self.space_id,))
        found = await self.gateway.search(request)
        if not isinstance(found, RetrievalMatches):
            return Asked(question=question, is_right_first=False, is_right_cited=False)
        first = found.hits[0]
        right = next((hit for hit in found.hits if self._answers(hit, question)), None)
        source = await self._read_back(first)
        is_read = source is not None and right is not None and await self._read_back(right) is not None
        return Asked(
            question=question, is_right_first=right is first, is_right_cited=is_read, first=first, source=source
        )

    def _answers(self, hit: RetrievalHit, question: Question) -> bool:
        return self.names.get(hit.document_id) in question.documents

    async def _read_back(self, hit: RetrievalHit) -> CitationSource | None:
        """The cited place with its context, if it holds what the hit showed."""
        try:
            source = await self.gateway.read_citation(hit.citation_id, before=CONTEXT, after=CONTEXT)
        except Refused:
            return None
        return source if source.document_id == hit.document_id and is_same_text(hit, source) else None


def is_same_text(hit: RetrievalHit, source: CitationSource) -> bool:
    """Whether the cited text is the text of the hit; either may have been cut, and white space does not count."""
    shown, cited = ("".join(text.split()) for text in (hit.content, source.matched_content))
    return bool(shown) and bool(cited) and (shown in cited or cited in shown)
