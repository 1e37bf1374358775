"""Reads what is left after a run into the oracle's world: rows, provider, object store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg.rows import DictRow, dict_row

from shared.database.audit import COLUMNS, content_hash
from tests.chaos.ledger import Ledger
from tests.chaos.oracle.world import AuditLink, Document, Operation, Space, StoredFile, Transition, Version, World
from tests.chaos.provider import ProviderSide
from tests.chaos.replaying import Replay

OPERATIONS: Final = """SELECT id, tenant_id AS tenant, type, status, space_id, document_id, version_id, root_id,
    parent_id, manual_attempt, retry_count,
    work_command_id IS NOT NULL OR cancel_command_id IS NOT NULL OR next_retry_at IS NOT NULL AS has_commands
    FROM operation"""
SPACES: Final = "SELECT id, tenant_id AS tenant, status FROM space"
DOCUMENTS: Final = """SELECT id, tenant_id AS tenant, space_id, status, active_version_id, candidate_version_id
    FROM document"""
VERSIONS: Final = """SELECT id, tenant_id AS tenant, space_id, document_id, status, sha256, file_id,
    native_document_id AS native_id, chunk_count AS chunks FROM document_version"""
FILES: Final = """SELECT id, object_key, status,
    EXISTS (SELECT 1 FROM file_resource WHERE file_resource.file_id = file.id) AS has_resource FROM file"""
ENTRIES: Final = "SELECT *, pg_xact_commit_timestamp(xmin) AS committed_at FROM audit_entry ORDER BY id"
CHAIN: Final = "SELECT chain, seq, entry_id, prev_hash, hash FROM audit_chain"
STATEFUL: Final = frozenset({"SPACE", "DOCUMENT", "VERSION", "OPERATION"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What the database holds."""

    operations: Sequence[DictRow]
    spaces: Sequence[DictRow]
    documents: Sequence[DictRow]
    versions: Sequence[DictRow]
    files: Sequence[DictRow]
    entries: Sequence[DictRow]
    chain: Sequence[DictRow]


def read_rows(url: str) -> Rows:
    """All of it in one transaction; `url` is psycopg's form."""
    with psycopg.connect(url, row_factory=dict_row) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        return Rows(
            operations=connection.execute(OPERATIONS).fetchall(),
            spaces=connection.execute(SPACES).fetchall(),
            documents=connection.execute(DOCUMENTS).fetchall(),
            versions=connection.execute(VERSIONS).fetchall(),
            files=connection.execute(FILES).fetchall(),
            entries=connection.execute(ENTRIES).fetchall(),
            chain=connection.execute(CHAIN).fetchall(),
        )


def gather(
    ledger: Ledger,
    rows: Rows,
    provider: ProviderSide,
    objects: Path,
    waiting: Mapping[str, Sequence[str]],
    again: Replay,
) -> World:
    """Everything in one world."""
    chained = {row["entry_id"] for row in rows.chain}
    return World(
        accepted=ledger.accepted,
        looks=ledger.looks,
        told=ledger.told,
        answers=ledger.answers,
        foreign=ledger.foreign,
        unanswered=ledger.unanswered,
        interrupted_uploads=ledger.interrupted_uploads,
        operations={row["id"]: Operation(**row) for row in rows.operations},
        spaces={row["id"]: Space(**row) for row in rows.spaces},
        documents={row["id"]: Document(**row) for row in rows.documents},
        versions={row["id"]: Version(**row) for row in rows.versions},
        transitions=transitions_of(rows),
        links=_links(rows),
        unchained=[row["id"] for row in rows.entries if row["id"] not in chained],
        files=[StoredFile(**row) for row in rows.files],
        waiting=waiting,
        attempts=again.attempts,
        held=provider.documents(),
        held_spaces=provider.spaces(),
        objects=_objects(objects),
        replayed=again.changes,
        replayed_events=again.events,
    )


def transitions_of(rows: Rows) -> list[Transition]:
    """The entries that tell of a status, in the order of their commits."""
    told = [row for row in rows.entries if _is_transition(row)]
    return [
        Transition(
            at=row["committed_at"].astimezone(UTC),
            resource_type=row["resource_type"],
            resource_id=row["resource_id"],
            before=row["before"],
            after=row["after"],
        )
        for row in sorted(told, key=lambda row: row["committed_at"])
    ]


def _is_transition(row: Mapping[str, Any]) -> bool:
    return row["resource_type"] in STATEFUL and row["after"] is not None and row["outcome"] == "done"


def _links(rows: Rows) -> list[AuditLink]:
    entries = {row["id"]: row for row in rows.entries}
    return [
        AuditLink(
            chain=row["chain"],
            seq=row["seq"],
            entry_id=row["entry_id"],
            prev_hash=row["prev_hash"],
            hash=row["hash"],
            stored_content=entries[row["entry_id"]]["content_hash"],
            actual_content=content_hash(
                {name: entries[row["entry_id"]][name] for name in COLUMNS if name != "content_hash"}
            ),
        )
        for row in rows.chain
    ]


def _objects(directory: Path) -> frozenset[str]:
    return frozenset(path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file())
