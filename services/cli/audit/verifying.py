"""Puts a verification together: the database by itself, then what checkpoints and the stream say of it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.cli.audit.chains import StoredAudit, Tell
from services.cli.audit.checkpoints import Checkpointed
from services.cli.audit.copies import Copies
from services.cli.audit.report import Findings, Report
from shared.auth.checkpoint_file import CheckpointFile
from shared.auth.checkpoints import CheckpointVerifier
from shared.contracts.catalogue import Stream
from shared.database.database import Database, open_database
from shared.database.migrate import require_current
from shared.database.settings import DatabaseSettings
from shared.messaging.connection import connect
from shared.messaging.reader import EventReader
from shared.messaging.settings import MessagingSettings
from shared.telemetry.stamps import Clock, utc_now

CONNECTION: Final = "audit-verification"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the database is compared with. Without `keys` signatures are not looked at."""

    files: Sequence[Path] = ()
    """Files of checkpoints."""
    keys: Sequence[str] = ()
    """Public keys in PEM."""
    broker: MessagingSettings | None = None
    """Where the audit stream is, if that is to be compared too."""


def _silent(what: str, count: int) -> None:
    """Nobody wants to know how far it is."""


async def verify_audit(
    settings: DatabaseSettings, evidence: Evidence, *, clock: Clock = utc_now, tell: Tell = _silent
) -> Report:
    """Verify the audit in a database, which is only read. It may be in use meanwhile."""
    database = open_database(settings)
    try:
        await require_current(database)
        return await _verify(database, evidence, clock, tell)
    finally:
        await database.close()


async def _verify(database: Database, evidence: Evidence, clock: Clock, tell: Tell) -> Report:
    findings = Findings()
    stored = StoredAudit(database=database, clock=clock, findings=findings, tell=tell)
    await stored.verify_entries()
    await stored.verify_chains()
    verifier = CheckpointVerifier(evidence.keys) if evidence.keys else None
    checkpointed = Checkpointed(database=database, verifier=verifier, findings=findings, tell=tell)
    for path in evidence.files:
        if path.exists():
            await checkpointed.verify_file(CheckpointFile(path))
        else:
            findings.remarks.append(f"There is no file of checkpoints at {path}.")
    if evidence.broker is not None:
        async with _audit_stream(evidence.broker) as reader:
            await Copies(
                database=database, reader=reader, checkpointed=checkpointed, findings=findings, tell=tell
            ).verify()
    _remark(findings, evidence)
    return findings.report()


def _remark(findings: Findings, evidence: Evidence) -> None:
    """What this verification could not have found."""
    if findings.checkpoints == 0:
        findings.remarks.append("There were no checkpoints: a tail that was cut off or rewritten would not show.")
    elif not evidence.keys:
        findings.remarks.append("No key was given: the signatures of the checkpoints were not looked at.")


@asynccontextmanager
async def _audit_stream(settings: MessagingSettings) -> AsyncIterator[EventReader]:
    connection = await connect(settings, name=CONNECTION)
    try:
        yield EventReader(connection, settings, stream=Stream.AUDIT.value)
    finally:
        await connection.close()
