"""Filling and asking an index in a line."""

from pathlib import Path

import apsw

from shared.providers.embedded.index.reader import IndexReader
from shared.providers.embedded.index.writer import IndexWriter
from tests.integration.engine.small_digests import digest, vector


def add(writer: IndexWriter, space: str, name: str, *sentences: str, vectors: bytes | None = None) -> str:
    native_id = writer.create_document(
        space, name, object_key=f"key/{name}", sha256="ab" * 32, content_type="text/plain"
    )
    writer.replace_content(native_id, digest(*sentences, vectors=vectors))
    return native_id


def lexical(reader: IndexReader, space: str, question: str, *allowed: str) -> list[str]:
    return [hit.text for hit in reader.search([space], question, vector(100), allowed, limit=10).lexical]


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(path))
    try:
        return [*connection.execute(sql)]
    finally:
        connection.close()
