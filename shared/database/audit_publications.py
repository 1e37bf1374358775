"""How far each audit chain has been published, and up to where a checkpoint of it has been signed."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from shared.database.codec import RowCodec
from shared.database.rows import TableRows
from shared.database.tables.access import AuditPublicationRow
from shared.database.tables.columns import table_of


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPublication:
    """The marks of one chain, as `AuditPublicationRow` describes them."""

    chain: str
    stream_created: str = ""
    seq: int = 0
    checkpoint_seq: int = 0
    checkpoint_at: datetime | None = None


_CODEC = RowCodec(table_of(AuditPublicationRow), AuditPublication)
_ROWS = TableRows(table_of(AuditPublicationRow), _CODEC.columns, key=("chain",))
_PUBLISHED = ("stream_created", "seq")
_SIGNED = ("checkpoint_seq", "checkpoint_at")


def load_publications(conn: Connection) -> Mapping[str, AuditPublication]:
    """The marks of every chain that has any."""
    return {row.chain: row for row in _CODEC.read(_ROWS.where(conn, "chain IS NOT NULL"))}


def note_published(conn: Connection, stream_created: str, seqs: Mapping[str, int]) -> None:
    """Note up to where chains are published in this stream."""
    _note(
        conn,
        _PUBLISHED,
        [AuditPublication(chain=chain, stream_created=stream_created, seq=seq) for chain, seq in seqs.items()],
    )


def note_checkpoints(conn: Connection, seqs: Mapping[str, int], at: datetime) -> None:
    """Note up to where chains have been signed."""
    _note(
        conn,
        _SIGNED,
        [AuditPublication(chain=chain, checkpoint_seq=seq, checkpoint_at=at) for chain, seq in seqs.items()],
    )


def _note(conn: Connection, changed: tuple[str, ...], marks: list[AuditPublication]) -> None:
    chains = [mark.chain for mark in marks]
    _ROWS.insert_missing(conn, _CODEC.write([AuditPublication(chain=chain) for chain in chains]))
    _ROWS.update(conn, changed, [*_CODEC.write(marks, only=changed), chains])
