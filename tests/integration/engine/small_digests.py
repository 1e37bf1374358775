"""Digests made by hand for tests that need no model: vectors of four dimensions, a chunk for each sentence."""

from shared.providers.embedded.chunks import Chunk
from shared.providers.embedded.digest import Digest, TokenisedChunk
from shared.providers.embedded.tokens import tokens

EMBEDDER = "hand-made/4"
DIMENSIONS = 4


def vector(*components: int) -> bytes:
    """A vector of int8 components, filled with zeros."""
    return bytes(component % 256 for component in (*components, 0, 0, 0, 0)[:DIMENSIONS])


def digest(*sentences: str, vectors: bytes | None = None, embedder: str = EMBEDDER) -> Digest:
    """One chunk a sentence, on a page of its own; all vectors alike unless they are given."""
    chunks, start = [], 0
    for number, sentence in enumerate(sentences, 1):
        chunk = Chunk(
            start=start, end=start + len(sentence), path=(f"Part {number}",), page_start=number, page_end=number
        )
        chunks.append(TokenisedChunk(chunk=chunk, tokens=" ".join(tokens(sentence))))
        start += len(sentence) + 1
    text = "".join(f"{sentence}\n" for sentence in sentences)
    return Digest(text=text, chunks=chunks, vectors=vectors or vector(100) * len(sentences), embedder=embedder)
