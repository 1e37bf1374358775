"""Ingests in one process: stopped at any moment, and never said to be what they no longer are."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from shared.contracts.enums import FailureReason
from shared.contracts.ids import VersionId
from shared.domain.errors import ProviderUnavailable
from shared.providers.embedded.children.messages import Parsed
from shared.providers.embedded.digester import Digester
from shared.providers.embedded.embedding import ignore
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.index.reader import IndexReader
from shared.providers.embedded.index.rows import IndexedDocument
from shared.providers.embedded.index.writer import IndexWriter
from shared.providers.embedded.ingests import Ingests
from shared.providers.embedded.writes import EmbeddedWrites
from shared.providers.ports import IngestState, VersionRef
from tests.integration.engine.small_digests import DIMENSIONS, EMBEDDER, digest
from tests.support.provider_samples import FolderOfFiles, source_file, space_ref

pytestmark = pytest.mark.anyio


class NoEmbedder:
    """Never has anything to embed."""

    name = EMBEDDER
    dimensions = DIMENSIONS

    async def embed(self, texts: Sequence[str], on_embedded: Callable[[int], None] = ignore) -> list[bytes]:
        raise AssertionError(texts)


class Parsers:
    """Ends with an error, as soon as it may."""

    def __init__(self) -> None:
        self.may_end = asyncio.Event()
        self.error: Exception = DigestFailed(FailureReason.FILE_CORRUPT)

    async def parse(self, path: Path, content_type: str, on_percent: Callable[[int], None]) -> Parsed:
        await self.may_end.wait()
        raise self.error


class SlowReader(IndexReader):
    """Comes back from a look only after an ingest that ran meanwhile has ended."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, embedder=EMBEDDER)
        self.after_look: Callable[[], None] = lambda: None

    def get_document(self, native_id: str) -> IndexedDocument | None:
        document = super().get_document(native_id)
        self.after_look()
        return document


class Scene:
    """An index with one document, and what ingests it."""

    def __init__(self, folder: Path) -> None:
        self.parsers = Parsers()
        self.writer = IndexWriter(folder / "index.db", embedder=EMBEDDER, dimensions=DIMENSIONS)
        self.reader = SlowReader(folder / "index.db")
        files = FolderOfFiles(folder)
        files.put("key", b"text")
        self.ingests = Ingests(self.writer, Digester(self.parsers, NoEmbedder()), files)
        self.writes = EmbeddedWrites(self.writer, self.reader, self.ingests)
        source = source_file(b"text", key="key")
        self.native_id = self.writer.create_document(
            self.writer.create_space("spc_1"),
            "ver_1.txt",
            object_key="key",
            sha256=source.sha256,
            content_type="text/plain",
        )
        self.version = VersionRef(
            space=space_ref(), version_id=VersionId("ver_1"), source=source, native_id=self.native_id
        )

    def begin(self) -> None:
        self.ingests.start(self.version, self.native_id)

    async def state(self) -> IngestState:
        found = await self.writes.find(self.version)
        assert found is not None
        return found.state

    async def end(self) -> None:
        """Let the ingest end and wait for it."""
        self.parsers.may_end.set()
        async with asyncio.timeout(10):
            while self.ingests.percent(self.native_id) is not None:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    yield scene
    scene.reader.close()
    scene.writer.close()


async def test_an_ingest_that_is_stopped_before_it_took_its_first_step_is_over(scene: Scene) -> None:
    scene.begin()
    await scene.ingests.stop(scene.native_id)
    assert scene.ingests.percent(scene.native_id) is None
    assert await scene.state() is IngestState.CANCELLED


async def test_who_waits_for_a_stop_can_be_cancelled(scene: Scene) -> None:
    scene.begin()
    await asyncio.sleep(0)
    stopping = asyncio.create_task(scene.ingests.stop(scene.native_id))
    await asyncio.sleep(0)
    stopping.cancel()
    await asyncio.wait((stopping,))
    assert stopping.cancelled()


async def test_a_look_that_an_ingest_has_overtaken_is_made_again(scene: Scene) -> None:
    """The index still said how the ingest before had ended when it was looked at."""
    scene.writer.mark(scene.native_id, IngestState.FAILED, FailureReason.PARSER_CRASHED)
    scene.begin()
    loop = asyncio.get_running_loop()

    def overtake() -> None:
        scene.reader.after_look = lambda: None
        asyncio.run_coroutine_threadsafe(scene.end(), loop).result(10)

    scene.reader.after_look = overtake
    found = await scene.writes.find(scene.version)
    assert found is not None
    assert (found.state, found.failure) == (IngestState.FAILED, FailureReason.FILE_CORRUPT)


async def test_an_error_of_an_ingest_is_not_kept_for_a_document_that_is_removed(scene: Scene) -> None:
    scene.parsers.error = ProviderUnavailable()
    scene.begin()
    await scene.end()
    await scene.writes.remove(scene.version.space, native_id=scene.native_id, name_prefix="ver_1")
    scene.ingests.raise_error(scene.native_id)


async def test_an_ingest_that_had_ended_by_itself_is_not_undone_by_a_stop(scene: Scene) -> None:
    scene.writer.replace_content(scene.native_id, digest("one"))
    await scene.ingests.stop(scene.native_id)
    assert await scene.state() is IngestState.DONE
