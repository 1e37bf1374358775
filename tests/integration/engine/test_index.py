"""The index as a store: what is written is read back whole, and what is removed is gone."""

from pathlib import Path

import pytest

from shared.contracts.enums import FailureReason
from shared.providers.embedded.index.errors import IndexMismatch, NotInIndex
from shared.providers.embedded.index.reader import IndexReader
from shared.providers.embedded.index.writer import TEXT_BLOCK_CHARACTERS, IndexWriter
from shared.providers.ports import IngestState
from tests.integration.engine.small_digests import digest
from tests.integration.engine.small_indexes import add, lexical, rows


def test_spaces_and_documents_are_found_again_by_name(writer: IndexWriter, reader: IndexReader, space: str) -> None:
    assert writer.create_space("one") == space
    assert writer.create_space("two") != space

    first = writer.create_document(space, "a.txt", object_key="k", sha256="ab" * 32, content_type="text/plain")
    again = writer.create_document(space, "a.txt", object_key="other", sha256="cd" * 32, content_type="text/plain")

    assert again == first
    found = reader.find_document(space, "a.txt")
    assert found is not None
    assert (found.native_id, found.object_key, found.state, found.chunks) == (first, "k", IngestState.IDLE, 0)
    assert reader.get_document(first) == found
    assert reader.find_document(space, "b.txt") is None
    assert reader.get_document("77") is None


def test_documents_of_a_space_are_listed_by_prefix(writer: IndexWriter, reader: IndexReader, space: str) -> None:
    for name in ("v2.txt", "v1.txt", "v1%.txt"):
        add(writer, space, name, "Words.")
    add(writer, writer.create_space("two"), "v1.txt", "Words.")

    assert [document.name for document in reader.list_documents(space)] == ["v1%.txt", "v1.txt", "v2.txt"]
    assert [document.name for document in reader.list_documents(space, name_prefix="v1%")] == ["v1%.txt"]


def test_a_document_needs_its_space(writer: IndexWriter) -> None:
    with pytest.raises(NotInIndex):
        writer.create_document("99", "a", object_key="k", sha256="ab" * 32, content_type="text/plain")


def test_replacing_leaves_nothing_of_what_was_there(writer: IndexWriter, reader: IndexReader, space: str) -> None:
    native_id = add(writer, space, "a", "Old words stay.", "Older ones too.")

    for _ in range(2):
        assert writer.replace_content(native_id, digest("New words came.")) == 1

    assert lexical(reader, space, "old", native_id) == []
    assert lexical(reader, space, "new", native_id) == ["New words came."]
    assert reader.read_text(native_id, 0, 1000) == "New words came.\n"
    document = reader.get_document(native_id)
    assert document is not None
    assert (document.state, document.chunks, document.characters) == (IngestState.DONE, 1, 16)


def test_a_failed_document_keeps_its_reason_and_is_not_found(
    writer: IndexWriter, reader: IndexReader, space: str
) -> None:
    native_id = add(writer, space, "a", "Words.")

    writer.mark(native_id, IngestState.FAILED, FailureReason.FILE_SCANNED)

    document = reader.get_document(native_id)
    assert document is not None
    assert (document.state, document.failure, document.chunks) == (IngestState.FAILED, FailureReason.FILE_SCANNED, 0)
    assert lexical(reader, space, "words", native_id) == []
    with pytest.raises(NotInIndex):
        reader.read_text(native_id, 0, 5)


def test_a_deleted_document_is_gone_and_may_be_deleted_again(
    writer: IndexWriter, reader: IndexReader, space: str
) -> None:
    native_id = add(writer, space, "a", "Words.")

    for _ in range(2):
        writer.delete_document(native_id)

    assert reader.list_documents(space) == []
    with pytest.raises(NotInIndex):
        writer.replace_content(native_id, digest("Too late."))
    with pytest.raises(NotInIndex):
        writer.mark(native_id, IngestState.CANCELLED)


def test_removing_a_space_leaves_the_others(writer: IndexWriter, reader: IndexReader, space: str, path: Path) -> None:
    other = writer.create_space("two")
    kept = add(writer, other, "a", "Kept words.")
    for number in range(3):
        add(writer, space, f"{number}", "Gone words.")

    for _ in range(2):
        writer.remove_space(space)

    assert lexical(reader, other, "words", kept) == ["Kept words."]
    assert rows(path, "SELECT count(*) FROM chunk, words, vectors WHERE chunk.id = words.rowid") == [(1,)]
    assert writer.create_space("one") != space


def test_text_is_read_by_code_points_across_blocks(writer: IndexWriter, reader: IndexReader, space: str) -> None:
    text = "𠀀é字x" * TEXT_BLOCK_CHARACTERS
    native_id = add(writer, space, "a", text)

    for start, end in ((0, 3), (TEXT_BLOCK_CHARACTERS - 2, TEXT_BLOCK_CHARACTERS + 2), (5, 3 * TEXT_BLOCK_CHARACTERS)):
        assert reader.read_text(native_id, start, end) == text[start:end]
    assert reader.read_text(native_id, len(text) - 1, len(text) + 50) == "x\n"


def test_an_excerpt_has_its_surroundings_path_and_pages(writer: IndexWriter, reader: IndexReader, space: str) -> None:
    native_id = add(writer, space, "a", "First.", "Second.", "Third.")

    excerpt = reader.read_excerpt(native_id, 7, 21, before=4, after=100)

    assert (excerpt.before, excerpt.matched, excerpt.after) == ("st.\n", "Second.\nThird.", "\n")
    assert (excerpt.path, excerpt.page_start, excerpt.page_end) == (("Part 2",), 2, 3)


@pytest.mark.parametrize(("start", "end"), [(-1, 3), (3, 3), (0, 99)])
def test_a_place_outside_the_text_is_not_in_the_index(
    start: int, end: int, writer: IndexWriter, reader: IndexReader, space: str
) -> None:
    native_id = add(writer, space, "a", "First.")

    with pytest.raises(NotInIndex):
        reader.read_excerpt(native_id, start, end, before=0, after=0)


def test_vectors_of_another_embedder_are_never_written(writer: IndexWriter, space: str) -> None:
    native_id = writer.create_document(space, "a", object_key="k", sha256="ab" * 32, content_type="text/plain")

    for foreign in (digest("Words.", embedder="other/4"), digest("Words.", vectors=b"\x01" * 5)):
        with pytest.raises(IndexMismatch):
            writer.replace_content(native_id, foreign)
