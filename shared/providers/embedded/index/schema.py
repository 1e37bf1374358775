"""The tables of the index file, and the marks that say who may read and write it."""

import apsw

from shared.providers.embedded.index.errors import IndexMismatch, IndexMissing

SCHEMA_VERSION = 1
"""Raised with every change of the tables, of the normalisation rules or of the tokens."""

TABLES = """
CREATE TABLE mark(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT;

CREATE TABLE space(
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given again: it stands in front of every token
    name TEXT NOT NULL UNIQUE,
    chunks INTEGER NOT NULL DEFAULT 0,
    words INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE document(
    id INTEGER PRIMARY KEY,  -- random: an id is never found again in a new index
    space INTEGER NOT NULL REFERENCES space(id),
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    failure TEXT,
    object_key TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    content_type TEXT NOT NULL,
    characters INTEGER NOT NULL DEFAULT 0,
    chunks INTEGER NOT NULL DEFAULT 0,
    words INTEGER NOT NULL DEFAULT 0,
    UNIQUE(space, name)
) STRICT;

CREATE TABLE text_block(
    document INTEGER NOT NULL,
    start INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY(document, start)
) WITHOUT ROWID, STRICT;

CREATE TABLE chunk(
    id INTEGER PRIMARY KEY,
    document INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    path TEXT NOT NULL,
    page_start INTEGER,
    page_end INTEGER,
    text TEXT NOT NULL,
    UNIQUE(document, ordinal)
) STRICT;

CREATE TABLE vectors(
    document INTEGER PRIMARY KEY,
    space INTEGER NOT NULL,
    embeddings BLOB NOT NULL  -- int8, one row of `dimensions` after the other, in the order of the chunks
) STRICT;

CREATE VIRTUAL TABLE words USING fts5(
    tokens, tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co M*' tokenchars '-./_'"
);
CREATE VIRTUAL TABLE word_counts USING fts5vocab(words, 'row');
"""


def create_tables(db: apsw.Connection, embedder: str, dimensions: int) -> None:
    """Make the tables if the file is new; the caller holds the write transaction."""
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'mark'").get is None:
        db.execute(TABLES)
        marks = {"schema": str(SCHEMA_VERSION), "embedder": embedder, "dimensions": str(dimensions)}
        db.executemany("INSERT INTO mark VALUES(?, ?)", marks.items())


def check_marks(db: apsw.Connection, embedder: str) -> None:
    """Refuse a file without marks, of another schema, or with vectors of another embedder."""
    try:
        marks = {str(name): value for name, value in db.execute("SELECT name, value FROM mark")}
    except apsw.SQLError as error:
        raise IndexMissing("The search index was never completed.") from error
    if marks.get("schema") != str(SCHEMA_VERSION):
        raise IndexMismatch(f"The search index has schema {marks.get('schema')}, expected is {SCHEMA_VERSION}.")
    if marks.get("embedder") != embedder:
        raise IndexMismatch(f"The search index was made with {marks.get('embedder')}, configured is {embedder}.")
