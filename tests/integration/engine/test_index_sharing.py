"""The index file between processes: missing, foreign, replaced, locked, written while it is read."""

import asyncio
import threading
from pathlib import Path

import apsw
import pytest

from shared.providers.embedded.index.errors import IndexMismatch, IndexMissing
from shared.providers.embedded.index.reader import IndexReader
from shared.providers.embedded.index.writer import IndexWriter
from tests.integration.engine.small_digests import DIMENSIONS, EMBEDDER, digest, vector
from tests.integration.engine.small_indexes import add, lexical, rows


def test_a_missing_index_is_an_error_and_never_an_empty_answer(tmp_path: Path) -> None:
    reader = IndexReader(tmp_path / "index.sqlite", embedder=EMBEDDER)

    for ask in (reader.check, lambda: reader.search(["1"], "words", vector(1), ["1"], limit=1)):
        with pytest.raises(IndexMissing):
            ask()


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 100])
def test_a_file_that_is_no_index_counts_as_missing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "index.sqlite").write_bytes(content)

    with pytest.raises(IndexMissing):
        IndexReader(tmp_path / "index.sqlite", embedder=EMBEDDER).check()


def test_an_index_of_another_embedder_or_schema_is_refused(path: Path, writer: IndexWriter) -> None:
    with pytest.raises(IndexMismatch):
        IndexWriter(path, embedder="other/4", dimensions=DIMENSIONS)
    with pytest.raises(IndexMismatch):
        IndexReader(path, embedder="other/4").check()

    connection = apsw.Connection(str(path))
    connection.execute("UPDATE mark SET value = '0' WHERE name = 'schema'")
    connection.close()
    with pytest.raises(IndexMismatch):
        IndexReader(path, embedder=EMBEDDER).check()


def test_a_reader_cannot_write(path: Path, writer: IndexWriter, reader: IndexReader) -> None:
    reader.check()

    with reader._connections.borrow() as connection, pytest.raises(apsw.ReadOnlyError):
        connection.execute("DELETE FROM space")


def test_an_index_that_was_replaced_under_its_name_is_read_anew(
    path: Path, writer: IndexWriter, reader: IndexReader, space: str
) -> None:
    old = add(writer, space, "a", "Old words.")
    assert lexical(reader, space, "words", old) == ["Old words."]
    writer.close()

    for file in path.parent.iterdir():
        file.unlink()
    with pytest.raises(IndexMissing):
        reader.check()
    fresh = IndexWriter(path, embedder=EMBEDDER, dimensions=DIMENSIONS)
    again = add(fresh, fresh.create_space("one"), "a", "New words.")

    assert lexical(reader, space, "words", again) == ["New words."]
    assert reader.get_document(old) is None
    fresh.close()


def test_writers_of_several_processes_take_turns_and_readers_see_whole_documents(
    path: Path, writer: IndexWriter
) -> None:
    other = IndexWriter(path, embedder=EMBEDDER, dimensions=DIMENSIONS)
    reader = IndexReader(path, embedder=EMBEDDER)
    space = writer.create_space("one")
    native_id = add(writer, space, "shared", "Version a1.", "Version a2.")
    seen: set[frozenset[str]] = set()

    def replace(by: IndexWriter, name: str) -> None:
        for _ in range(30):
            by.replace_content(native_id, digest(f"Version {name}1.", f"Version {name}2."))

    def read() -> None:
        for _ in range(60):
            found = reader.search([space], "version", vector(100), [native_id], limit=10)
            seen.add(frozenset(hit.text for hit in found.vector))
            assert {hit.text for hit in found.lexical} == {hit.text for hit in found.vector}

    threads = [
        threading.Thread(target=work)
        for work in (lambda: replace(writer, "a"), lambda: replace(other, "b"), read, read)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert seen <= {frozenset({"Version a1.", "Version a2."}), frozenset({"Version b1.", "Version b2."})}
    assert rows(path, "SELECT count(*) FROM chunk") == rows(path, "SELECT chunks FROM space") == [(2,)]
    other.close()
    reader.close()


async def test_waiting_for_another_writer_leaves_the_event_loop_alone(path: Path, writer: IndexWriter) -> None:
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    waiting = asyncio.create_task(asyncio.to_thread(writer.create_space, "two"))

    for _ in range(20):
        await asyncio.wait_for(asyncio.sleep(0.01), timeout=1)
    assert not waiting.done()
    other.execute("COMMIT")

    assert await waiting
    other.close()
