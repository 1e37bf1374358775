"""The engine's processes, started once, and the corpus indexed once."""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from shared.providers.embedded.children.embedder_pool import EmbedderPool
from shared.providers.embedded.children.parser_pool import ParserPool
from shared.providers.embedded.digest import Digest
from shared.providers.embedded.digester import Digester
from shared.providers.embedded.index.reader import IndexReader
from shared.providers.embedded.index.writer import IndexWriter
from shared.providers.embedded.limits import DigestLimits
from tests.integration.engine.corpus import CONTENT_TYPES, corpus_files
from tests.integration.engine.small_digests import DIMENSIONS, EMBEDDER


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedCorpus:
    """The corpus in an index: by file name the native id and the digest."""

    reader: IndexReader
    space: str
    native_ids: Mapping[str, str]
    digests: Mapping[str, Digest]


@pytest.fixture(scope="session")
async def parsers() -> AsyncIterator[ParserPool]:
    pool = ParserPool(size=2, limits=DigestLimits(time=timedelta(seconds=30)))
    yield pool
    await pool.close()


@pytest.fixture(scope="session")
async def embedder() -> AsyncIterator[EmbedderPool]:
    pool = EmbedderPool(size=1)
    yield pool
    await pool.close()


@pytest.fixture(scope="session")
async def digester(parsers: ParserPool, embedder: EmbedderPool) -> Digester:
    return Digester(parsers, embedder)


@pytest.fixture(scope="session")
async def corpus(
    digester: Digester, embedder: EmbedderPool, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[IndexedCorpus]:
    path = tmp_path_factory.mktemp("engine") / "index.sqlite"
    writer = IndexWriter(path, embedder=embedder.name, dimensions=embedder.dimensions)
    space = writer.create_space("corpus")
    native_ids, digests = {}, {}
    for file in corpus_files():
        digest = await digester.digest(file, CONTENT_TYPES[file.suffix], on_progress=lambda percent: None)
        native_id = writer.create_document(space, file.name, object_key=file.name, sha256="0" * 64, content_type="")
        writer.replace_content(native_id, digest)
        native_ids[file.name], digests[file.name] = native_id, digest
    writer.close()
    reader = IndexReader(path, embedder=embedder.name)
    yield IndexedCorpus(reader=reader, space=space, native_ids=native_ids, digests=digests)
    reader.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "engine" / "index.sqlite"


@pytest.fixture
def writer(path: Path) -> Iterator[IndexWriter]:
    opened = IndexWriter(path, embedder=EMBEDDER, dimensions=DIMENSIONS)
    yield opened
    opened.close()


@pytest.fixture
def reader(path: Path, writer: IndexWriter) -> Iterator[IndexReader]:
    opened = IndexReader(path, embedder=EMBEDDER)
    yield opened
    opened.close()


@pytest.fixture
def space(writer: IndexWriter) -> str:
    return writer.create_space("one")
