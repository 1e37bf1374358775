"""Writes to the index, each one short transaction: readers see a document whole or not at all."""

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import orjson

from shared.contracts.enums import FailureReason
from shared.providers.embedded.digest import Digest
from shared.providers.embedded.index.connections import open_for_writing, transaction, translated
from shared.providers.embedded.index.errors import IndexMismatch, NotInIndex
from shared.providers.embedded.index.keys import document_key, space_key
from shared.providers.ports import IngestState

TEXT_BLOCK_CHARACTERS = 16_384
_ID_BITS = 62


class IndexWriter:
    """The writing side, safe to call from any thread; several processes take turns at the file's lock."""

    def __init__(self, path: Path, *, embedder: str, dimensions: int) -> None:
        self._embedder = embedder
        self._dimensions = dimensions
        self._lock = threading.Lock()
        self._db = open_for_writing(path, embedder, dimensions)

    def close(self) -> None:
        """Close the file; further calls fail."""
        with self._lock:
            self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        # Taking the write lock at the beginning: a transaction that began as a reader could not wait for it.
        with self._lock, translated(), transaction(self._db, "IMMEDIATE"):
            yield self._db

    def create_space(self, name: str) -> str:
        """Find or make a space by its name; its native id."""
        with self._transaction() as db:
            db.execute("INSERT INTO space(name) VALUES(?) ON CONFLICT DO NOTHING", (name,))
            return str(db.execute("SELECT id FROM space WHERE name = ?", (name,)).get)

    def remove_space(self, native_id: str) -> None:
        """Remove a space, document by document so that other writers get their turn; fine when it is gone."""
        space = space_key(native_id)
        while True:
            with self._transaction() as db:
                document = db.execute("SELECT id FROM document WHERE space = ? LIMIT 1", (space,)).get
                if document is None:
                    db.execute("DELETE FROM space WHERE id = ?", (space,))
                    return
                _delete_document(db, document)

    def create_document(self, space: str, name: str, *, object_key: str, sha256: str, content_type: str) -> str:
        """Find or make a document by its name in a space; its native id. A found one keeps its row as it is."""
        with self._transaction() as db:
            key = space_key(space)
            if db.execute("SELECT 1 FROM space WHERE id = ?", (key,)).get is None:
                raise NotInIndex
            db.execute(
                "INSERT INTO document(id, space, name, state, object_key, sha256, content_type) "
                "VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(space, name) DO NOTHING",
                (secrets.randbits(_ID_BITS), key, name, IngestState.IDLE.value, object_key, sha256, content_type),
            )
            return str(db.execute("SELECT id FROM document WHERE space = ? AND name = ?", (key, name)).get)

    def replace_content(self, native_id: str, digest: Digest) -> int:
        """Write a document's text, chunks, words and vectors, replacing what was there; the number of chunks.

        Raises NotInIndex if the document was deleted meanwhile: its content is then not wanted any more.
        """
        if digest.embedder != self._embedder or len(digest.vectors) != len(digest.chunks) * self._dimensions:
            raise IndexMismatch(f"The vectors of {digest.embedder} do not fit this index.")
        document = document_key(native_id)
        with self._transaction() as db:
            space = db.execute("SELECT space FROM document WHERE id = ?", (document,)).get
            if space is None:
                raise NotInIndex
            _delete_content(db, document)
            _insert_content(db, document, space, digest)
        return len(digest.chunks)

    def mark(self, native_id: str, state: IngestState, failure: FailureReason | None = None) -> None:
        """Set a document's state; unless it is DONE its content goes, so that nothing of it is found."""
        document = document_key(native_id)
        with self._transaction() as db:
            if state is not IngestState.DONE:
                _delete_content(db, document)
            reason = failure.value if failure is not None else None
            db.execute("UPDATE document SET state = ?, failure = ? WHERE id = ?", (state.value, reason, document))
            if not db.changes():
                raise NotInIndex

    def delete_document(self, native_id: str) -> None:
        """Remove a document with all that is in it; fine when it is gone."""
        with self._transaction() as db:
            _delete_document(db, document_key(native_id))


def _delete_document(db: apsw.Connection, document: int) -> None:
    _delete_content(db, document)
    db.execute("DELETE FROM document WHERE id = ?", (document,))


def _delete_content(db: apsw.Connection, document: int) -> None:
    db.execute("DELETE FROM words WHERE rowid IN (SELECT id FROM chunk WHERE document = ?)", (document,))
    for table in ("chunk", "text_block", "vectors"):
        db.execute(f"DELETE FROM {table} WHERE document = ?", (document,))  # noqa: S608
    db.execute(
        "UPDATE space SET chunks = space.chunks - d.chunks, words = space.words - d.words "
        "FROM document d WHERE d.id = ? AND d.space = space.id",
        (document,),
    )
    db.execute("UPDATE document SET characters = 0, chunks = 0, words = 0 WHERE id = ?", (document,))


def _insert_content(db: apsw.Connection, document: int, space: int, digest: Digest) -> None:
    text = digest.text
    blocks = (
        (document, at, text[at : at + TEXT_BLOCK_CHARACTERS]) for at in range(0, len(text), TEXT_BLOCK_CHARACTERS)
    )
    db.executemany("INSERT INTO text_block VALUES(?, ?, ?)", blocks)
    first = int(db.execute("SELECT coalesce(max(id), 0) + 1 FROM chunk").get)
    db.executemany("INSERT INTO chunk VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", _chunk_rows(document, first, digest))
    prefix = f"{space}_"
    lines = [[prefix + token for token in entry.tokens.split()] for entry in digest.chunks]
    db.executemany(
        "INSERT INTO words(rowid, tokens) VALUES(?, ?)", ((first + at, " ".join(line)) for at, line in enumerate(lines))
    )
    db.execute("INSERT INTO vectors VALUES(?, ?, ?)", (document, space, digest.vectors))
    words = sum(map(len, lines))
    db.execute(
        "UPDATE document SET state = ?, failure = NULL, characters = ?, chunks = ?, words = ? WHERE id = ?",
        (IngestState.DONE.value, len(text), len(digest.chunks), words, document),
    )
    db.execute(
        "UPDATE space SET chunks = chunks + ?, words = words + ? WHERE id = ?", (len(digest.chunks), words, space)
    )


def _chunk_rows(document: int, first: int, digest: Digest) -> Iterator[tuple[int | str | None, ...]]:
    for ordinal, entry in enumerate(digest.chunks):
        chunk = entry.chunk
        path = orjson.dumps(chunk.path).decode()
        place = (chunk.start, chunk.end, path, chunk.page_start, chunk.page_end)
        yield first + ordinal, document, ordinal, *place, digest.text[chunk.start : chunk.end]
