"""A disk that is full in the middle of a document: nothing half is left, and with room it is written whole, once."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from shared.domain.errors import ProviderUnavailable
from shared.providers.embedded.engine import writes_with
from shared.providers.embedded.index.connections import transaction
from shared.providers.embedded.index.errors import IndexBusy
from shared.providers.embedded.index.reader import IndexReader
from shared.providers.embedded.index.rows import IndexedDocument
from shared.providers.embedded.index.writer import IndexWriter
from shared.providers.embedded.settings import EmbeddedSettings
from shared.providers.embedded.writes import EmbeddedWrites
from shared.providers.ports import IngestState, VersionRef
from tests.contract.providers.factories import EmbedderHere
from tests.integration.engine.small_digests import DIMENSIONS, EMBEDDER, digest
from tests.support.provider_samples import FolderOfFiles, space_ref, version_ref

SENTENCES = [f"Sentence number {number} of a long document about pumps and valves." for number in range(1, 2001)]
SOME_PAGES = 20
"""Room for a part of them."""
ENOUGH = 1_000_000


def limit(db: apsw.Connection, more: int) -> None:
    """Let the file grow by so many pages."""
    pages = db.pragma("page_count")
    db.pragma("max_page_count", pages + more)


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[IndexWriter]:
    with closing(IndexWriter(tmp_path / "index.db", embedder=EMBEDDER, dimensions=DIMENSIONS)) as writer:
        yield writer


@pytest.fixture
def reader(tmp_path: Path, writer: IndexWriter) -> Iterator[IndexReader]:
    with closing(IndexReader(tmp_path / "index.db", embedder=EMBEDDER)) as reader:
        yield reader


def the_document(reader: IndexReader) -> IndexedDocument:
    (document,) = reader.list_documents("1")
    return document


def counts(writer: IndexWriter) -> list[tuple[object, ...]]:
    """What is stored of all documents together, table by table."""
    tables = ("chunk", "words", "vectors", "text_block")
    return [tuple(row) for table in tables for row in writer._db.execute(f"SELECT count(*) FROM {table}")]  # noqa: S608


def test_what_did_not_fit_leaves_the_old_content_whole_and_comes_in_whole_later(
    writer: IndexWriter, reader: IndexReader
) -> None:
    space = writer.create_space("spc_1")
    native_id = writer.create_document(space, "ver_1.md", object_key="key", sha256="0" * 64, content_type="text/plain")
    writer.replace_content(native_id, digest("One.", "Two.", "Three."))
    before = counts(writer)

    limit(writer._db, SOME_PAGES)
    for _ in range(3):
        with pytest.raises(IndexBusy):
            writer.replace_content(native_id, digest(*SENTENCES))
        assert counts(writer) == before
        assert (the_document(reader).state, the_document(reader).chunks) == (IngestState.DONE, 3)

    limit(writer._db, ENOUGH)
    for _ in range(2):
        assert writer.replace_content(native_id, digest(*SENTENCES)) == 2000
        assert counts(writer)[:3] == [(2000,), (2000,), (1,)]
    assert the_document(reader).chunks == 2000
    assert writer._db.pragma("integrity_check") == "ok"


def test_after_a_commit_that_failed_the_next_transaction_begins() -> None:
    with closing(apsw.Connection(":memory:")) as db:
        db.pragma("foreign_keys", True)
        db.execute("CREATE TABLE one (id INTEGER PRIMARY KEY)")
        db.execute("CREATE TABLE two (one REFERENCES one DEFERRABLE INITIALLY DEFERRED)")
        with pytest.raises(apsw.ConstraintError), transaction(db, "IMMEDIATE"):
            db.execute("INSERT INTO two VALUES (7)")
        with transaction(db, "IMMEDIATE"):
            db.execute("INSERT INTO one VALUES (7)")
        assert db.execute("SELECT (SELECT count(*) FROM one), (SELECT count(*) FROM two)").fetchall() == [(1, 0)]


async def test_an_ingest_without_room_is_to_be_tried_again_and_then_succeeds(tmp_path: Path) -> None:
    files = FolderOfFiles(tmp_path)
    content = "\n\n".join(f"## Part {number}\n\n{line}" for number, line in enumerate(SENTENCES[:40])).encode()
    files.put("ver_0001", content)
    writes = writes_with(EmbeddedSettings(index=tmp_path / "index.sqlite", parsers=1), files, EmbedderHere())
    try:
        native_space = await writes.provision(space_ref())
        space = replace(space_ref(), native_id=native_space)
        version = version_ref(space, content=content)
        native_id = await writes.upload(version)
        limit(writes._writer._db, 1)
        await writes.start_ingest(version, native_id)
        with pytest.raises(ProviderUnavailable):
            await ended(writes, version)
        limit(writes._writer._db, ENOUGH)
        await writes.start_ingest(version, native_id)
        assert await ended(writes, version) is IngestState.DONE
    finally:
        await writes.close()


async def ended(writes: EmbeddedWrites, version: VersionRef) -> IngestState:
    """The state in which the ingest has ended."""
    async with asyncio.timeout(60):
        while True:
            found = await writes.find(version)
            assert found is not None
            if found.state is not IngestState.RUNNING:
                return found.state
            await asyncio.sleep(0.02)
