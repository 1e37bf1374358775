"""The reading side of the embedded engine: searches and places read back, off the event loop."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from shared.contracts.enums import LocationPrecision
from shared.domain.errors import NotFound
from shared.providers.embedded.embedding import Embedder
from shared.providers.embedded.index.reader import IndexReader
from shared.providers.embedded.index.rows import Hit, IndexedDocument
from shared.providers.ports import Context, NativeDocument, Passage, Place, Question, Ranking, SpaceRef

T = TypeVar("T")

THREADS = 4
"""Searches that read the index at once; each has a connection of its own."""


LEXICAL_WEIGHT = 0.95
"""A little less than meaning's, so that two passages that lead one ranking each do not tie."""


class EmbeddedReads:
    """Reads one index. The embedder turns questions into vectors."""

    def __init__(self, reader: IndexReader, embedder: Embedder) -> None:
        self._reader = reader
        self._embedder = embedder
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="knowgate-index-reader")

    async def search(self, question: Question) -> tuple[Ranking, ...]:
        """Two rankings, by words and by meaning. Nothing allowed, nothing found."""
        spaces = [space.native_id for space, documents in question.allowed if space.native_id and documents]
        allowed = [document for space, documents in question.allowed if space.native_id for document in documents]
        if not allowed:
            return ()
        (vector,) = await self._embedder.embed([question.text])
        found = await self._off_loop(
            lambda: self._reader.search(spaces, question.text, vector, allowed, limit=question.limit)
        )
        return (
            Ranking(channel="vector", passages=_passages(found.vector)),
            Ranking(channel="lexical", passages=_passages(found.lexical), weight=LEXICAL_WEIGHT),
        )

    async def read(self, space: SpaceRef, native_document_id: str, place: Place, before: int, after: int) -> Context:
        """A place with what stands around it; NotFound when the document or the place is not there."""

        def read() -> Context:
            document = self._reader.get_document(native_document_id)
            if document is None or document.space != space.native_id:
                raise NotFound
            excerpt = self._reader.read_excerpt(native_document_id, place.start, place.end, before=before, after=after)
            return Context(
                before=excerpt.before,
                matched=excerpt.matched,
                after=excerpt.after,
                chapter_path=excerpt.path,
                page_start=excerpt.page_start,
                page_end=excerpt.page_end,
                precision=LocationPrecision.EXACT_OFFSET,
            )

        return await self._off_loop(read)

    async def list_documents(self, space: SpaceRef) -> Sequence[NativeDocument]:
        """Every document of a space."""
        native_id = space.native_id
        if native_id is None:
            return ()
        return [
            as_native(document) for document in await self._off_loop(lambda: self._reader.list_documents(native_id))
        ]

    async def check(self) -> None:
        """Raise ProviderUnavailable unless the index is there and was made with this embedder."""
        await self._off_loop(self._reader.check)

    async def close(self) -> None:
        """Close the index."""
        await asyncio.to_thread(self._threads.shutdown)
        self._reader.close()

    async def _off_loop(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def as_native(document: IndexedDocument) -> NativeDocument:
    """A row of the index as a provider tells of it."""
    return NativeDocument(
        native_id=document.native_id,
        name=document.name,
        state=document.state,
        chunk_count=document.chunks,
        failure=document.failure,
    )


def _passages(hits: Sequence[Hit]) -> tuple[Passage, ...]:
    return tuple(
        Passage(
            native_document_id=hit.document,
            place=Place(start=hit.start, end=hit.end),
            text=hit.text,
            score=hit.score,
            chapter_path=hit.path,
            page_start=hit.page_start,
            page_end=hit.page_end,
        )
        for hit in hits
    )
