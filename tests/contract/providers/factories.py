"""The providers that the conformance suite runs on. A new one adds itself to FACTORIES."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path

from shared.contracts.commands import ProviderKind
from shared.providers.embedded.embedding import BUNDLED_DIMENSIONS, BundledModel, bundled_name, ignore
from shared.providers.embedded.engine import reads_with, writes_with
from shared.providers.embedded.settings import EmbeddedSettings
from shared.providers.ports import FileReader, ProviderReads, ProviderWrites, VersionRef
from shared.providers.scripted.provider import ScriptedProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenProvider:
    """A provider under test, empty and ready."""

    kind: ProviderKind
    reads: ProviderReads
    writes: ProviderWrites
    plant: Callable[[VersionRef], str] | None = None
    """Puts a second document of a version's name there, where the provider can hold two of one name."""
    patience: timedelta = timedelta(seconds=60)
    """How long an ingest of a few lines may take."""


Factory = Callable[[Path, FileReader], AbstractAsyncContextManager[OpenProvider]]
"""Opens a provider that keeps what it keeps below a directory and reads files from a reader."""


@asynccontextmanager
async def scripted_in_memory(_directory: Path, files: FileReader) -> AsyncIterator[OpenProvider]:
    """The scripted provider of one process."""
    provider = ScriptedProvider(files=files)
    try:
        yield _opened(provider, provider)
    finally:
        await provider.close()


@asynccontextmanager
async def scripted_in_two_processes(directory: Path, files: FileReader) -> AsyncIterator[OpenProvider]:
    """The scripted provider as api and worker share it: one writes, another reads."""
    writer = ScriptedProvider(path=directory / "scripted.db", files=files)
    reader = ScriptedProvider(path=directory / "scripted.db")
    try:
        yield _opened(reader, writer)
    finally:
        await reader.close()
        await writer.close()


def _opened(reads: ScriptedProvider, writes: ScriptedProvider) -> OpenProvider:
    return OpenProvider(kind=ProviderKind.SCRIPTED, reads=reads, writes=writes, plant=writes.plant)


class EmbedderHere:
    """The bundled model in this process, loaded once for all tests instead of once a child."""

    name = bundled_name()
    dimensions = BUNDLED_DIMENSIONS

    async def embed(self, texts: Sequence[str], on_embedded: Callable[[int], None] = ignore) -> list[bytes]:
        """One vector for each text."""
        vectors = await asyncio.to_thread(lambda: _model().embed(texts))
        on_embedded(len(texts))
        return [vectors[at : at + self.dimensions] for at in range(0, len(vectors), self.dimensions)]


@cache
def _model() -> BundledModel:
    return BundledModel()


@asynccontextmanager
async def embedded(directory: Path, files: FileReader) -> AsyncIterator[OpenProvider]:
    """The embedded engine: a worker's side and the api's side on one index. It holds one document of a name."""
    settings = EmbeddedSettings(index=directory / "index.sqlite", parsers=1, embedders=1)
    embedder = EmbedderHere()
    writes = writes_with(settings, files, embedder)
    reads = reads_with(settings, embedder)
    try:
        yield OpenProvider(kind=ProviderKind.EMBEDDED, reads=reads, writes=writes)
    finally:
        await reads.close()
        await writes.close()


FACTORIES: dict[str, Factory] = {
    "embedded": embedded,
    "scripted in memory": scripted_in_memory,
    "scripted in two processes": scripted_in_two_processes,
}
"""By the name under which its tests appear."""
