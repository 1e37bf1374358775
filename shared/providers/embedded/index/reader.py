"""Reads from the index: documents, places in their text, and search."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

import apsw
import orjson

from shared.contracts.enums import FailureReason
from shared.providers.embedded.index.connections import ReadConnections
from shared.providers.embedded.index.errors import NotInIndex
from shared.providers.embedded.index.keys import document_key, key_list, space_key
from shared.providers.embedded.index.lexical import search_lexical
from shared.providers.embedded.index.rows import Excerpt, Found, Hit, IndexedDocument
from shared.providers.embedded.index.vectors import search_vectors
from shared.providers.embedded.index.writer import TEXT_BLOCK_CHARACTERS
from shared.providers.embedded.tokens import query_terms
from shared.providers.ports import IngestState

_DocumentRow = tuple[int, int, str, str, str | None, str, str, str, int, int]
_DOCUMENT = "SELECT id, space, name, state, failure, object_key, sha256, content_type, characters, chunks FROM document"
_HitRow = tuple[int, int, int, str, int | None, int | None, str]
_HITS = 'SELECT c.document, c.start, c."end", c.path, c.page_start, c.page_end, c.text FROM json_each(?) w '
_BY_ID = "CROSS JOIN chunk c ON c.id = w.value ORDER BY w.key"
_BY_PLACE = "CROSS JOIN chunk c ON c.document = w.value ->> 0 AND c.ordinal = w.value ->> 1 ORDER BY w.key"

_PlaceRow = tuple[str, int | None, int | None]
_AROUND = 'SELECT path, page_start, page_end FROM chunk WHERE document = ? AND start < ? AND "end" > ? ORDER BY ordinal'


class IndexReader:
    """The reading side, safe to call from any thread. Every call sees one moment of the index.

    Raises IndexMissing when there is no index: that is never an empty answer.
    """

    def __init__(self, path: Path, *, embedder: str) -> None:
        self._connections = ReadConnections(path, embedder)

    def close(self) -> None:
        """Close the idle connections."""
        self._connections.close()

    def check(self) -> None:
        """Raise unless the index is there and readable."""
        with self._connections.borrow() as db:
            db.execute("SELECT count(*) FROM space").fetchall()

    def list_documents(self, space: str, *, name_prefix: str = "") -> list[IndexedDocument]:
        """The documents of a space whose name begins with `name_prefix`, by name."""
        with self._connections.borrow() as db:
            rows = db.execute(
                f"{_DOCUMENT} WHERE space = ? AND substr(name, 1, ?) = ? ORDER BY name",
                (space_key(space), len(name_prefix), name_prefix),
            )
            return [_document(row) for row in rows]

    def find_document(self, space: str, name: str) -> IndexedDocument | None:
        """The document of that name in a space."""
        with self._connections.borrow() as db:
            row = db.execute(f"{_DOCUMENT} WHERE space = ? AND name = ?", (space_key(space), name)).fetchone()
        return _document(row) if row is not None else None

    def get_document(self, native_id: str) -> IndexedDocument | None:
        """The document of that native id."""
        with self._connections.borrow() as db:
            row = db.execute(f"{_DOCUMENT} WHERE id = ?", (document_key(native_id),)).fetchone()
        return _document(row) if row is not None else None

    def read_text(self, native_id: str, start: int, end: int) -> str:
        """Code points ``[start, end)`` of a document's text, cut at its ends; NotInIndex without content."""
        with self._connections.borrow() as db:
            _require_content(db, document_key(native_id))
            return _slice(db, document_key(native_id), start, end)

    def read_excerpt(self, native_id: str, start: int, end: int, *, before: int, after: int) -> Excerpt:
        """A place with up to `before` and `after` code points around it, its chapter path and its pages."""
        key = document_key(native_id)
        with self._connections.borrow() as db:
            if not 0 <= start < end <= _require_content(db, key):
                raise NotInIndex
            chunks = cast(list[_PlaceRow], db.execute(_AROUND, (key, end, start)).fetchall())
            return Excerpt(
                before=_slice(db, key, max(0, start - before), start),
                matched=_slice(db, key, start, end),
                after=_slice(db, key, end, end + after),
                path=_path(chunks[0][0]) if chunks else (),
                page_start=chunks[0][1] if chunks else None,
                page_end=chunks[-1][2] if chunks else None,
            )

    def search(
        self, spaces: Sequence[str], question: str, vector: bytes, allowed: Iterable[str], *, limit: int
    ) -> Found:
        """Search the allowed documents of the given spaces; `vector` is the question's. None allowed, none found."""
        keys, space_keys, terms = key_list(allowed), list(map(space_key, spaces)), query_terms(question)
        if keys == "[]":
            return Found(lexical=(), vector=())
        with self._connections.borrow() as db:
            lexical = search_lexical(db, space_keys, terms, keys, limit)
            nearest = search_vectors(db, space_keys, vector, keys, limit)
            return Found(
                lexical=_hits(db, _BY_ID, [m.chunk for m in lexical], [m.score for m in lexical]),
                vector=_hits(db, _BY_PLACE, [(m.document, m.ordinal) for m in nearest], [m.cosine for m in nearest]),
            )


def _document(row: object) -> IndexedDocument:
    key, space, name, state, failure, object_key, sha256, content_type, characters, chunks = cast(_DocumentRow, row)
    return IndexedDocument(
        native_id=str(key),
        space=str(space),
        name=name,
        state=IngestState(state),
        failure=FailureReason(failure) if failure is not None else None,
        object_key=object_key,
        sha256=sha256,
        content_type=content_type,
        characters=characters,
        chunks=chunks,
    )


def _require_content(db: apsw.Connection, document: int) -> int:
    characters = db.execute(
        "SELECT characters FROM document WHERE id = ? AND state = ?", (document, IngestState.DONE.value)
    ).get
    if characters is None:
        raise NotInIndex
    return int(characters)


def _slice(db: apsw.Connection, document: int, start: int, end: int) -> str:
    first = start - start % TEXT_BLOCK_CHARACTERS
    rows = db.execute(
        "SELECT text FROM text_block WHERE document = ? AND start >= ? AND start < ? ORDER BY start",
        (document, first, end),
    )
    return "".join(text for (text,) in rows)[start - first : max(start, end) - first]


def _hits(db: apsw.Connection, source: str, wanted: Sequence[object], scores: Sequence[float]) -> tuple[Hit, ...]:
    """The wanted chunks in their order."""
    rows = cast(Iterable[_HitRow], db.execute(_HITS + source, (orjson.dumps(wanted).decode(),)))
    return tuple(
        Hit(
            document=str(document),
            start=start,
            end=end,
            text=text,
            path=_path(path),
            page_start=page_start,
            page_end=page_end,
            score=min(1.0, max(0.0, score)),
        )
        for (document, start, end, path, page_start, page_end, text), score in zip(rows, scores, strict=True)
    )


def _path(stored: str) -> tuple[str, ...]:
    return tuple(orjson.loads(stored))
