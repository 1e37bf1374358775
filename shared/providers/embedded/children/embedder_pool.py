"""The bundled embedder as processes of its own: one a core, each with the model, fed with small batches.

Texts of several documents share a batch, and documents take turns: a book of thousands of chunks does not keep a
page waiting, and a single document is embedded on every core.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import orjson

from shared.domain.errors import ProviderUnavailable
from shared.providers.embedded.children.child import Child
from shared.providers.embedded.children.framing import FrameBroken, pack
from shared.providers.embedded.embedding import BUNDLED_DIMENSIONS, bundled_name, ignore

MODULE = "shared.providers.embedded.children.embedder_child"
BATCH_TEXTS = 16
BATCH_CHARACTERS = 8_000
"""Enough to keep a core busy for about a tenth of a second; larger batches were measured to be no faster."""

_ATTEMPTS = 2


@dataclass(slots=True, kw_only=True, eq=False)
class _Job:
    """The texts of one call; `taken` are on their way, `missing` have no vector yet."""

    texts: Sequence[str]
    done: asyncio.Future[None]
    tell: Callable[[int], None]
    vectors: list[bytes] = field(default_factory=list)
    taken: int = 0
    missing: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """Some texts of a job that travel together; `attempt` counts from 1."""

    job: _Job
    start: int
    stop: int
    attempt: int = 1

    @property
    def texts(self) -> Sequence[str]:
        return self.job.texts[self.start : self.stop]


class EmbedderPool:
    """An Embedder on `size` processes, started with the first text."""

    def __init__(self, *, size: int) -> None:
        self._size = size
        self._name = bundled_name()
        self._jobs: deque[_Job] = deque()
        self._retries: deque[_Piece] = deque()
        self._work = asyncio.Condition()
        self._runners: list[asyncio.Task[None]] = []

    @property
    def name(self) -> str:
        """The bundled embedder's name."""
        return self._name

    @property
    def dimensions(self) -> int:
        """Bytes of one vector."""
        return BUNDLED_DIMENSIONS

    async def embed(self, texts: Sequence[str], on_embedded: Callable[[int], None] = ignore) -> list[bytes]:
        """One vector for each text; ProviderUnavailable if embedders keep dying of them."""
        if not texts:
            return []
        done = asyncio.get_running_loop().create_future()
        job = _Job(texts=texts, done=done, tell=on_embedded, vectors=[b""] * len(texts), missing=len(texts))
        async with self._work:
            self._jobs.append(job)
            self._work.notify(self._size)
        self._runners = self._runners or [asyncio.create_task(self._run()) for _ in range(self._size)]
        await done
        return job.vectors

    async def close(self) -> None:
        """End the embedders; calls that wait fail."""
        runners, self._runners = self._runners, []
        for runner in runners:
            runner.cancel()
        await asyncio.gather(*runners, return_exceptions=True)
        for job in (*self._jobs, *(piece.job for piece in self._retries)):
            _fail(job)
        self._jobs.clear()
        self._retries.clear()

    async def _run(self) -> None:
        child: Child | None = None
        try:
            while True:
                async with self._work:
                    while not (batch := self._next_batch()):
                        await self._work.wait()
                try:
                    child = child or await Child.start(MODULE)
                    _deliver(batch, await _ask(child, batch))
                except (FrameBroken, OSError):
                    if child is not None:
                        await child.kill()
                        child = None
                    self._retry(batch)
                except BaseException:
                    for piece in batch:
                        _fail(piece.job)
                    raise
        finally:
            if child is not None:
                await child.kill()

    def _next_batch(self) -> list[_Piece]:
        """Some texts of each waiting job in turn; what killed an embedder goes alone, so that only it can again."""
        if self._retries:
            return [self._retries.popleft()]
        batch: list[_Piece] = []
        texts = characters = 0
        while self._jobs and texts < BATCH_TEXTS and characters < BATCH_CHARACTERS:
            job = self._jobs.popleft()
            if job.done.done():
                continue
            stop = job.taken
            while stop < len(job.texts) and texts < BATCH_TEXTS and characters < BATCH_CHARACTERS:
                texts, characters, stop = texts + 1, characters + len(job.texts[stop]), stop + 1
            batch.append(_Piece(job=job, start=job.taken, stop=stop))
            job.taken = stop
            if stop < len(job.texts):
                self._jobs.append(job)
        return batch

    def _retry(self, batch: list[_Piece]) -> None:
        for piece in batch:
            if piece.attempt >= _ATTEMPTS:
                _fail(piece.job)
            else:
                self._retries.append(
                    _Piece(job=piece.job, start=piece.start, stop=piece.stop, attempt=piece.attempt + 1)
                )


async def _ask(child: Child, batch: list[_Piece]) -> bytes:
    texts = [text for piece in batch for text in piece.texts]
    await child.send(pack(orjson.dumps(texts)))
    _, vectors = await child.receive()
    if len(vectors) != len(texts) * BUNDLED_DIMENSIONS:
        raise FrameBroken("not one vector for each text")
    return vectors


def _deliver(batch: list[_Piece], vectors: bytes) -> None:
    width = BUNDLED_DIMENSIONS
    offset = 0
    for piece in batch:
        for index in range(piece.start, piece.stop):
            piece.job.vectors[index] = vectors[offset : offset + width]
            offset += width
        job = piece.job
        job.missing -= piece.stop - piece.start
        if not job.done.done():
            job.tell(len(job.texts) - job.missing)
            if not job.missing:
                job.done.set_result(None)


def _fail(job: _Job) -> None:
    if not job.done.done():
        job.done.set_exception(ProviderUnavailable("The embedder ended unexpectedly."))
