"""Whoever can write to the database can change the audit; the verification finds each way of doing it, by name."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection

from services.cli.audit.report import FaultKind, Report
from services.cli.audit.verifying import Evidence, verify_audit
from shared.auth.checkpoint_file import CheckpointFile
from shared.auth.checkpoints import CheckpointSigner
from shared.auth.development import new_signing_key
from shared.contracts.ids import TenantId
from shared.database.audit import write_entries
from shared.database.audit_chain import all_heads, chain_hash
from shared.database.database import Database
from shared.database.settings import SQLITE, DatabaseSettings
from shared.domain.audit import Actor, AuditEntry, Origin, Outcome
from shared.lifecycle.seal_audit import seal_audit
from tests.integration.database.samples import NOW, after

pytestmark = pytest.mark.anyio

SIGNER = CheckpointSigner(new_signing_key())

Tamper = Callable[..., None]
"""Runs statements past every trigger and foreign key."""


@pytest.fixture
def tamper(settings: DatabaseSettings) -> Tamper:
    def run(*statements: str) -> None:
        if settings.address.drivername == SQLITE:
            connection = sqlite3.connect(str(settings.address.database))
            for table in ("audit_entry", "audit_chain"):
                for event in ("update", "delete"):
                    connection.execute(f"DROP TRIGGER IF EXISTS {table}_{event}")
            for statement in statements:
                connection.execute(statement)
            connection.commit()
            connection.close()
            return
        address = settings.address.set(drivername="postgresql").render_as_string(hide_password=False)
        with psycopg.connect(address) as server:
            server.execute("SET session_replication_role = replica")
            for statement in statements:
                server.execute(statement.encode())

    return run


def an_entry(number: int, tenant: str | None = "acme") -> AuditEntry:
    return AuditEntry(
        id=f"aud_{number}",
        tenant_id=None if tenant is None else TenantId(tenant),
        at=after(number),
        origin=Origin(actor=Actor.API),
        action="document.active",
        outcome=Outcome.DONE,
        details={"number": number},
    )


def write(database: Database, *entries: AuditEntry, sealed: bool = True) -> None:
    def work(conn: Connection) -> None:
        write_entries(conn, entries)
        if sealed:
            seal_audit(conn, NOW, limit=500)

    database.write_blocking(work)


@pytest.fixture
def filled(database: Database) -> Database:
    """Six entries of one tenant and two beside it."""
    write(database, *(an_entry(number) for number in range(1, 7)), an_entry(7, "globex"), an_entry(8, None))
    return database


def sign_heads(database: Database, path: Path) -> None:
    heads = database.read_blocking(all_heads)
    CheckpointFile(path).append([SIGNER.sign(chain, head.seq, head.hash, NOW) for chain, head in heads.items()])


async def verified(settings: DatabaseSettings, *files: Path, keys: Sequence[str] = (SIGNER.public_key,)) -> Report:
    return await verify_audit(settings, Evidence(files=files, keys=keys), clock=lambda: after(60))


def kinds(report: Report) -> list[tuple[str, str | None, int | None]]:
    """What was found and in which place of which chain."""
    assert report.fault_count == len(report.faults)
    return [(fault.kind.value, fault.chain, fault.seq) for fault in report.faults]


async def test_what_nobody_has_touched_verifies(filled: Database, settings: DatabaseSettings, tmp_path: Path) -> None:
    sign_heads(filled, tmp_path / "checkpoints")

    report = await verified(settings, tmp_path / "checkpoints")

    assert (report.chains, report.entries, report.checkpoints) == (3, 8, 3)
    assert (report.fault_count, report.faults, report.remarks) == (0, (), ())


async def test_nothing_verifies_too(database: Database, settings: DatabaseSettings) -> None:
    report = await verified(settings)

    assert (report.chains, report.entries, report.fault_count) == (0, 0, 0)


ONE_FAULT: Mapping[str, tuple[str, list[tuple[str, str | None, int | None]]]] = {
    "a changed entry": (
        "UPDATE audit_entry SET subject = 'mallory' WHERE id = 'aud_3'",
        [("entry_changed", "acme", None)],
    ),
    "changed details": (
        "UPDATE audit_entry SET details = '{\"number\":4}' WHERE id = 'aud_3'",
        [("entry_changed", "acme", None)],
    ),
    "a changed time": (
        'UPDATE audit_entry SET "at" = "at" + 1 WHERE id = \'aud_3\'',
        [("entry_changed", "acme", None)],
    ),
    "an entry moved to another tenant": (
        "UPDATE audit_entry SET tenant_id = 'globex' WHERE id = 'aud_3'",
        [("entry_changed", "globex", None), ("wrong_chain", "acme", 3)],
    ),
    "a changed entry with a hash that fits": (
        "UPDATE audit_entry SET content_hash = repeat_a WHERE id = 'aud_3'",
        [("entry_changed", "acme", None), ("link_changed", "acme", 3)],
    ),
    "a deleted entry": ("DELETE FROM audit_entry WHERE id = 'aud_3'", [("entry_missing", "acme", 3)]),
    "a deleted link": (
        "DELETE FROM audit_chain WHERE chain = 'acme' AND seq = 3",
        [("entry_outside", "acme", None), ("link_missing", "acme", 3)],
    ),
    "a changed link": (
        "UPDATE audit_chain SET hash = repeat_a WHERE chain = 'acme' AND seq = 3",
        [("link_changed", "acme", 3), ("link_broken", "acme", 4)],
    ),
    "an entry that was written past the sealer": (
        "DELETE FROM audit_unsealed",
        [("entry_outside", "acme", None)],
    ),
    "a whole chain that was deleted": (
        "DELETE FROM audit_chain WHERE chain = 'globex'",
        [("entry_outside", "globex", None)],
    ),
}


@pytest.mark.parametrize("what", sorted(ONE_FAULT))
async def test_it_is_found(filled: Database, settings: DatabaseSettings, tamper: Tamper, what: str) -> None:
    statement, expected = ONE_FAULT[what]
    if "past the sealer" in what:
        write(filled, an_entry(9), sealed=False)

    tamper(statement.replace("repeat_a", f"'{'a' * 64}'"))

    assert kinds(await verified(settings)) == expected


async def test_a_removed_stretch_of_a_chain_with_its_entries_is_found(
    filled: Database, settings: DatabaseSettings, tamper: Tamper
) -> None:
    tamper(
        "DELETE FROM audit_chain WHERE chain = 'acme' AND seq IN (2, 3, 4)",
        "DELETE FROM audit_entry WHERE id IN ('aud_2', 'aud_3', 'aud_4')",
    )

    (fault,) = (await verified(settings)).faults

    assert (fault.kind, fault.chain, fault.seq) == (FaultKind.LINK_MISSING, "acme", 2)
    assert fault.explanation == "Missing: 2 to 4."


async def test_two_links_that_were_given_each_other_s_entry_are_found(
    filled: Database, settings: DatabaseSettings, tamper: Tamper
) -> None:
    tamper(
        "UPDATE audit_chain SET entry_id = 'x' WHERE entry_id = 'aud_2'",
        "UPDATE audit_chain SET entry_id = 'aud_2' WHERE entry_id = 'aud_4'",
        "UPDATE audit_chain SET entry_id = 'aud_4' WHERE entry_id = 'x'",
    )

    assert kinds(await verified(settings)) == [("link_changed", "acme", 2), ("link_changed", "acme", 4)]


async def test_links_that_changed_places_are_found(
    filled: Database, settings: DatabaseSettings, tamper: Tamper
) -> None:
    tamper(
        "UPDATE audit_chain SET seq = 100 WHERE chain = 'acme' AND seq = 5",
        "UPDATE audit_chain SET seq = 5 WHERE chain = 'acme' AND seq = 6",
        "UPDATE audit_chain SET seq = 6 WHERE chain = 'acme' AND seq = 100",
    )

    assert kinds(await verified(settings)) == [
        ("link_broken", "acme", 5),
        ("link_changed", "acme", 5),
        ("link_broken", "acme", 6),
        ("link_changed", "acme", 6),
    ]


async def test_an_entry_that_was_doubled_is_in_no_chain(
    filled: Database, settings: DatabaseSettings, tamper: Tamper
) -> None:
    columns = 'tenant_id, "at", actor, action, outcome, details, content_hash'
    again = f"INSERT INTO audit_entry (id, {columns}) SELECT 'aud_31', {columns} FROM audit_entry"  # noqa: S608 - ours
    tamper(f"{again} WHERE id = 'aud_3'")

    assert kinds(await verified(settings)) == [("entry_changed", "acme", None), ("entry_outside", "acme", None)]


async def test_an_entry_that_is_sealed_and_waits_again_is_found(
    filled: Database, settings: DatabaseSettings, tamper: Tamper
) -> None:
    tamper("INSERT INTO audit_unsealed (entry_id) VALUES ('aud_3')")

    assert kinds(await verified(settings)) == [("sealed_and_waiting", "acme", None)]


async def test_an_entry_that_was_removed_before_it_was_sealed_is_missed(
    filled: Database, settings: DatabaseSettings, tamper: Tamper
) -> None:
    write(filled, an_entry(9), sealed=False)
    tamper("DELETE FROM audit_entry WHERE id = 'aud_9'")

    (fault,) = (await verified(settings)).faults

    assert (fault.kind, fault.entry_id) == (FaultKind.ENTRY_MISSING, "aud_9")


async def test_an_entry_may_wait_for_five_seconds_and_no_longer(filled: Database, settings: DatabaseSettings) -> None:
    write(filled, an_entry(9), sealed=False)

    soon = await verify_audit(settings, Evidence(), clock=lambda: after(9) + timedelta(seconds=5))
    later = await verify_audit(settings, Evidence(), clock=lambda: after(9) + timedelta(seconds=5.1))

    assert soon.fault_count == 0
    assert kinds(later) == [("unsealed_too_long", "acme", None)]


CUT = (
    "DELETE FROM audit_chain WHERE chain = 'acme' AND seq > 4",
    "DELETE FROM audit_entry WHERE id IN ('aud_5', 'aud_6')",
)


async def test_a_tail_that_was_cut_off_shows_by_the_checkpoint(
    filled: Database, settings: DatabaseSettings, tamper: Tamper, tmp_path: Path
) -> None:
    sign_heads(filled, tmp_path / "checkpoints")
    tamper(*CUT)

    assert kinds(await verified(settings, tmp_path / "checkpoints")) == [("chain_cut", "acme", 6)]
    without = await verified(settings)
    assert without.fault_count == 0
    assert without.remarks == ("There were no checkpoints: a tail that was cut off or rewritten would not show.",)


async def test_a_tail_in_whose_place_others_were_forged_shows_by_the_checkpoint(
    filled: Database, settings: DatabaseSettings, tamper: Tamper, tmp_path: Path
) -> None:
    sign_heads(filled, tmp_path / "checkpoints")
    tamper(*CUT)
    write(filled, an_entry(15), an_entry(16))
    assert (await verified(settings)).fault_count == 0

    assert kinds(await verified(settings, tmp_path / "checkpoints")) == [("chain_rewritten", "acme", 6)]


async def test_a_link_whose_hashes_were_computed_anew_to_the_end_shows_by_the_checkpoint(
    filled: Database, settings: DatabaseSettings, tamper: Tamper, tmp_path: Path
) -> None:
    sign_heads(filled, tmp_path / "checkpoints")
    rows = filled.read_blocking(
        lambda conn: conn.exec_driver_sql(
            "SELECT seq, prev_hash, entry.content_hash FROM audit_chain "
            "JOIN audit_entry AS entry ON entry.id = entry_id WHERE chain = 'acme' AND seq >= 5 ORDER BY seq"
        ).all()
    )
    (_, previous, fifth), (_, _, sixth) = rows
    first = chain_hash(previous, 5, sixth)
    second = chain_hash(first, 6, fifth)
    tamper(
        "UPDATE audit_chain SET entry_id = 'x' WHERE entry_id = 'aud_5'",
        f"UPDATE audit_chain SET entry_id = 'aud_5', hash = '{second}' WHERE entry_id = 'aud_6'",  # noqa: S608 - ours
        f"UPDATE audit_chain SET prev_hash = '{first}' WHERE entry_id = 'aud_5'",  # noqa: S608 - as above
        f"UPDATE audit_chain SET entry_id = 'aud_6', hash = '{first}' WHERE entry_id = 'x'",  # noqa: S608 - as above
    )
    assert (await verified(settings)).fault_count == 0

    assert kinds(await verified(settings, tmp_path / "checkpoints")) == [("chain_rewritten", "acme", 6)]


async def test_a_checkpoint_that_was_changed_or_is_by_somebody_else_is_found(
    filled: Database, settings: DatabaseSettings, tmp_path: Path
) -> None:
    head = filled.read_blocking(all_heads)["acme"]
    genuine = SIGNER.sign("acme", head.seq, head.hash, NOW)
    stranger = CheckpointSigner(new_signing_key()).sign("acme", head.seq, head.hash, NOW)
    CheckpointFile(tmp_path / "checkpoints").append([genuine.model_copy(update={"seq": 5}), stranger, genuine])

    assert kinds(await verified(settings, tmp_path / "checkpoints")) == [
        ("checkpoint_forged", "acme", 5),
        ("checkpoint_of_unknown_key", "acme", 6),
    ]


async def test_without_a_key_hashes_are_compared_and_it_is_said(
    filled: Database, settings: DatabaseSettings, tmp_path: Path
) -> None:
    sign_heads(filled, tmp_path / "checkpoints")

    report = await verified(settings, tmp_path / "checkpoints", keys=())

    assert report.fault_count == 0
    assert report.remarks == ("No key was given: the signatures of the checkpoints were not looked at.",)


async def test_a_torn_last_line_is_told_and_a_line_that_is_no_checkpoint_is_a_fault(
    filled: Database, settings: DatabaseSettings, tmp_path: Path
) -> None:
    path = tmp_path / "checkpoints"
    sign_heads(filled, path)
    path.write_bytes(b"{}\n" + path.read_bytes() + b'{"chain"')

    report = await verified(settings, path)

    assert kinds(report) == [("checkpoint_unreadable", None, None)]
    assert report.remarks == (f"The last line of {path} is torn, as a crash leaves it.",)


async def test_a_chain_longer_than_a_page_is_read_to_its_end(
    database: Database, settings: DatabaseSettings, tamper: Tamper
) -> None:
    for start in range(0, 2500, 500):
        write(database, *(an_entry(100_000 + number) for number in range(start, start + 500)))
    assert (await verified(settings)).entries == 2500

    tamper("UPDATE audit_chain SET prev_hash = 'x' WHERE chain = 'acme' AND seq IN (1001, 2500)")

    assert kinds(await verified(settings)) == [
        ("link_broken", "acme", 1001),
        ("link_changed", "acme", 1001),
        ("link_broken", "acme", 2500),
        ("link_changed", "acme", 2500),
    ]
