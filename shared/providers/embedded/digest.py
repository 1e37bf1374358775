"""What a file has become when it is digested: its text, its chunks and their vectors, ready for the index."""

from collections.abc import Sequence
from dataclasses import dataclass

from shared.providers.embedded.chunks import Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenisedChunk:
    """A chunk with the words that stand in it and in its chapter path, separated by spaces."""

    chunk: Chunk
    tokens: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """One digested document. `vectors` holds the chunks' int8 vectors one after the other, as `embedder` made them."""

    text: str
    chunks: Sequence[TokenisedChunk]
    vectors: bytes
    embedder: str


def embedded_text(text: str, chunk: Chunk) -> str:
    """What is embedded and tokenised for a chunk: its words below its chapter path, which says what they are about."""
    body = text[chunk.start : chunk.end]
    return f"{' > '.join(chunk.path)}\n{body}" if chunk.path else body
