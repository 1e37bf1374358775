"""From a file to a digest: parsed and cut in one child, embedded in others, none of it on the event loop."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from shared.providers.embedded.children.messages import Parsed
from shared.providers.embedded.digest import Digest, embedded_text
from shared.providers.embedded.embedding import Embedder

PARSING_SHARE = 10
"""Percent of the work that reading the file counts for; the rest is embedding."""


class Parsers(Protocol):
    """What reads files; the pool of parsers does."""

    async def parse(self, path: Path, content_type: str, on_percent: Callable[[int], None]) -> Parsed:
        """Read a file; raises DigestFailed."""


class Digester:
    """Digests any number of files at once, as many as there are parsers."""

    def __init__(self, parsers: Parsers, embedder: Embedder) -> None:
        self._parsers = parsers
        self._embedder = embedder

    async def digest(self, path: Path, content_type: str, *, on_progress: Callable[[int], None]) -> Digest:
        """Digest one file; raises DigestFailed. `on_progress` gets percent. Cancelling ends the work at once."""
        parsed = await self._parsers.parse(path, content_type, lambda p: on_progress(p * PARSING_SHARE // 100))
        texts = [embedded_text(parsed.text, entry.chunk) for entry in parsed.chunks]
        rest = 100 - PARSING_SHARE
        vectors = await self._embedder.embed(texts, lambda done: on_progress(PARSING_SHARE + rest * done // len(texts)))
        return Digest(text=parsed.text, chunks=parsed.chunks, vectors=b"".join(vectors), embedder=self._embedder.name)
