"""The writing side of the embedded engine, for workers: spaces, documents and their ingests."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from shared.domain.errors import NotFound
from shared.providers.embedded.index.reader import IndexReader
from shared.providers.embedded.index.rows import IndexedDocument
from shared.providers.embedded.index.writer import IndexWriter
from shared.providers.embedded.ingests import Ingests
from shared.providers.embedded.reads import as_native
from shared.providers.ports import IngestState, NativeDocument, SpaceRef, VersionRef

PROBE_CHARACTERS = 200
"""How much of a document a probe reads."""


class EmbeddedWrites:
    """Writes one index."""

    def __init__(self, writer: IndexWriter, reader: IndexReader, ingests: Ingests) -> None:
        self._writer = writer
        self._reader = reader
        self._ingests = ingests
        self._closers: list[Callable[[], Awaitable[None]]] = []

    def closes_with(self, close: Callable[[], Awaitable[None]]) -> None:
        """Have something that belongs to it, such as child processes, end together with it."""
        self._closers.append(close)

    async def provision(self, space: SpaceRef) -> str:
        """Find or make the space in the index."""
        return await asyncio.to_thread(self._writer.create_space, space.space_id)

    async def remove_space(self, space: SpaceRef) -> None:
        """Remove the space with all in it. One that was made without a word of it coming back is found first."""
        native_id = space.native_id or await self.provision(space)
        await asyncio.to_thread(self._writer.remove_space, native_id)

    async def upload(self, version: VersionRef) -> str:
        """Find or make the version's document; its file stays in the object store and is read when it is ingested."""
        space = version.space.native_id or await self.provision(version.space)
        return await asyncio.to_thread(
            self._writer.create_document,
            space,
            version.name,
            object_key=version.source.object_key,
            sha256=version.source.sha256,
            content_type=version.source.content_type,
        )

    async def find(self, version: VersionRef) -> NativeDocument | None:
        """The version's document; RUNNING while this process works on it, otherwise as the index has it."""
        was_running = version.native_id is not None and self._ingests.percent(version.native_id) is not None
        document = await asyncio.to_thread(self._look_up, version)
        if was_running and document is not None and self._ingests.percent(document.native_id) is None:
            document = await asyncio.to_thread(self._look_up, version)  # it may have ended after we looked
        if document is None:
            return None
        found = as_native(document)
        percent = self._ingests.percent(found.native_id)
        if percent is not None:
            return replace(found, state=IngestState.RUNNING, percent=percent)
        if found.state is not IngestState.DONE:
            self._ingests.raise_error(found.native_id)
        return found

    async def start_ingest(self, version: VersionRef, native_id: str) -> None:
        """Begin to parse, embed and index in child processes."""
        self._ingests.start(version, native_id)

    async def stop_ingest(self, version: VersionRef, native_id: str) -> None:
        """End the ingest if it runs in this process; elsewhere its command's own worker stops it."""
        await self._ingests.stop(native_id)

    async def probe(self, version: VersionRef, native_id: str) -> bool:
        """Whether the beginning of the document's text can be read."""
        try:
            text = await asyncio.to_thread(self._reader.read_text, native_id, 0, PROBE_CHARACTERS)
        except NotFound:
            return False
        return bool(text.strip())

    async def remove(self, space: SpaceRef, *, native_id: str | None, name_prefix: str) -> None:
        """Remove exactly `native_id`, or every document of the space whose name begins with `name_prefix`."""
        if native_id is not None:
            await self._remove(native_id)
        elif space.native_id is not None:
            for document in await asyncio.to_thread(self._named, space.native_id, name_prefix):
                await self._remove(document.native_id)

    async def close(self) -> None:
        """End running ingests and their children, then close the index."""
        await self._ingests.close()
        for close in self._closers:
            await close()
        self._reader.close()
        self._writer.close()

    async def _remove(self, native_id: str) -> None:
        await self._ingests.stop(native_id)
        await asyncio.to_thread(self._writer.delete_document, native_id)

    def _named(self, space: str, prefix: str) -> list[IndexedDocument]:
        return self._reader.list_documents(space, name_prefix=prefix)

    def _look_up(self, version: VersionRef) -> IndexedDocument | None:
        if version.native_id is not None:
            return self._reader.get_document(version.native_id)
        space = version.space.native_id
        return None if space is None else self._reader.find_document(space, version.name)
