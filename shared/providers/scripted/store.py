"""What the scripted provider remembers, in SQLite: in memory for one process, in a file for several."""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path

from shared.providers.ports import IngestState
from shared.providers.scripted.behaviour import ScriptedDocument
from shared.providers.scripted.script import EVERY_FILE, OBEDIENT, Call, Script

IN_MEMORY = ":memory:"
BUSY_TIMEOUT = timedelta(seconds=10)
SCHEMA = """
CREATE TABLE IF NOT EXISTS space (id TEXT PRIMARY KEY, native_id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS document (
    number INTEGER PRIMARY KEY AUTOINCREMENT, space TEXT NOT NULL, name TEXT NOT NULL, file_name TEXT NOT NULL,
    text TEXT NOT NULL, state TEXT NOT NULL, since REAL NOT NULL, ingests INTEGER NOT NULL, removed_at REAL
);
CREATE INDEX IF NOT EXISTS document_by_name ON document (space, name);
CREATE TABLE IF NOT EXISTS script (file_name TEXT PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS calls (call TEXT, name TEXT, count INTEGER NOT NULL, PRIMARY KEY (call, name));
"""
NATIVE_PREFIX = "scripted-"
COLUMNS = "number, space, name, file_name, text, state, since, ingests"


class ScriptedStore:
    """One database. Used from the event loop's thread: each call takes microseconds."""

    def __init__(self, path: Path | None = None) -> None:
        self._is_shared = path is not None
        """Alone, scripts and counts need not be asked of the database at every call."""
        self._scripts: dict[str, Script] = {}
        self._calls: Counter[tuple[Call, str]] = Counter()
        where = IN_MEMORY if path is None else str(path)
        self._database = sqlite3.connect(where, timeout=BUSY_TIMEOUT.total_seconds(), isolation_level=None)
        if path is not None:
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = OFF")
        self._database.executescript(SCHEMA)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, and no other process in between."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    def write_script(self, file_name: str, script: Script) -> None:
        """Tell how to behave for a file name, or for every file."""
        self._database.execute("INSERT OR REPLACE INTO script VALUES (?, ?)", (file_name, script.model_dump_json()))
        self._scripts.clear()

    def script(self, file_name: str) -> Script:
        """How to behave for a file name."""
        known = None if self._is_shared else self._scripts.get(file_name)
        if known is None:
            known = self._scripts[file_name] = self._stored_script(file_name)
        return known

    def _stored_script(self, file_name: str) -> Script:
        row = self._database.execute(
            "SELECT body FROM script WHERE file_name IN (?, ?) ORDER BY file_name = ? LIMIT 1",
            (file_name, EVERY_FILE, EVERY_FILE),
        ).fetchone()
        return OBEDIENT if row is None else _read_script(row[0])

    def count(self, call: Call, name: str) -> int:
        """Count a call; its number among the calls of its kind."""
        if not self._is_shared:
            self._calls[call, name] += 1
            return self._calls[call, name]
        row = self._database.execute(
            "INSERT INTO calls VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET count = count + 1 RETURNING count",
            (call.value, name),
        ).fetchone()
        return int(row[0])

    def calls(self, call: Call, name: str) -> int:
        """How often a call was made."""
        if not self._is_shared:
            return self._calls[call, name]
        row = self._database.execute(
            "SELECT count FROM calls WHERE call = ? AND name = ?", (call.value, name)
        ).fetchone()
        return 0 if row is None else int(row[0])

    def add_space(self, space_id: str) -> str:
        """Find or make a space; its native id."""
        native_id = f"{NATIVE_PREFIX}space-{space_id}"
        self._database.execute("INSERT OR IGNORE INTO space VALUES (?, ?)", (space_id, native_id))
        return native_id

    def remove_space(self, space_id: str, now: datetime) -> None:
        """Remove a space with all that is in it."""
        self._database.execute("DELETE FROM space WHERE id = ?", (space_id,))
        self._database.execute(
            "UPDATE document SET removed_at = ? WHERE space = ? AND removed_at IS NULL", (now.timestamp(), space_id)
        )

    def add(self, *, space: str, name: str, file_name: str, text: str, now: datetime) -> str:
        """Add a document, whatever is there already; its native id."""
        cursor = self._database.execute(
            "INSERT INTO document (space, name, file_name, text, state, since, ingests) VALUES (?, ?, ?, ?, ?, ?, 0)",
            (space, name, file_name, text, IngestState.IDLE.value, now.timestamp()),
        )
        return f"{NATIVE_PREFIX}{cursor.lastrowid}"

    def save(self, document: ScriptedDocument) -> None:
        """Store what happened to a document."""
        self._database.execute(
            "UPDATE document SET state = ?, since = ?, ingests = ? WHERE number = ?",
            (document.state.value, document.since.timestamp(), document.ingests, _number(document.native_id)),
        )

    def remove(self, native_id: str, now: datetime) -> None:
        """Mark a document as removed."""
        self._database.execute(
            "UPDATE document SET removed_at = ? WHERE number = ? AND removed_at IS NULL",
            (now.timestamp(), _number(native_id)),
        )

    def by_id(self, space: str, native_id: str) -> ScriptedDocument | None:
        """The document with this native id."""
        rows = self._select("number = ? AND space = ? AND removed_at IS NULL", (_number(native_id), space))
        return rows[0] if rows else None

    def by_name(self, space: str, name: str) -> list[ScriptedDocument]:
        """The documents of this name, oldest first."""
        return self._select("space = ? AND name = ? AND removed_at IS NULL", (space, name))

    def by_prefix(self, space: str, prefix: str) -> list[ScriptedDocument]:
        """The documents whose name begins so, oldest first."""
        return self._select("space = ? AND substr(name, 1, ?) = ? AND removed_at IS NULL", (space, len(prefix), prefix))

    def all(self, space: str | None = None) -> list[ScriptedDocument]:
        """Every document of a space, or of all."""
        if space is None:
            return self._select("removed_at IS NULL", ())
        return self._select("space = ? AND removed_at IS NULL", (space,))

    def lingering(self, space: str) -> list[tuple[ScriptedDocument, datetime]]:
        """What was removed from a space, and when."""
        rows = self._database.execute(
            f"SELECT {COLUMNS}, removed_at FROM document WHERE space = ? AND removed_at IS NOT NULL",  # noqa: S608
            (space,),
        ).fetchall()
        return [(_document(row[:-1]), _time(row[-1])) for row in rows]

    def _select(self, condition: str, values: Sequence[object]) -> list[ScriptedDocument]:
        rows = self._database.execute(
            f"SELECT {COLUMNS} FROM document WHERE {condition} ORDER BY number",  # noqa: S608 - our own conditions
            tuple(values),
        ).fetchall()
        return [_document(row) for row in rows]


@lru_cache(maxsize=1024)
def _read_script(body: str) -> Script:
    return Script.model_validate_json(body)


def _document(row: Sequence[object]) -> ScriptedDocument:
    number, space, name, file_name, text, state, since, ingests = row
    return ScriptedDocument(
        native_id=f"{NATIVE_PREFIX}{number}",
        space=str(space),
        name=str(name),
        file_name=str(file_name),
        text=str(text),
        state=IngestState(str(state)),
        since=_time(since),
        ingests=int(str(ingests)),
    )


def _number(native_id: str) -> int:
    """A native id of another provider is one that this one has never given: number 0."""
    digits = native_id.removeprefix(NATIVE_PREFIX)
    return int(digits) if digits.isdecimal() else 0


def _time(seconds: object) -> datetime:
    return datetime.fromtimestamp(float(str(seconds)), UTC)
