"""The sealer beside the projector: everything that is written is sealed soon, by the holder of the lease alone."""

import asyncio
from datetime import timedelta

import pytest

from services.projector.lease import Lease
from services.projector.sealing import MOST_AT_ONCE, Sealing
from shared.contracts.ids import TenantId
from shared.database.audit import write_entries
from shared.database.audit_chain import chain_hash
from shared.database.database import Database
from shared.database.errors import LeaseLost
from shared.domain.audit import Actor, AuditEntry, Origin, Outcome
from shared.telemetry.stamps import utc_now
from tests.integration.projector.conftest import Stage
from tests.integration.projector.test_projector import ended, uploads

pytestmark = pytest.mark.anyio

TTL = timedelta(seconds=60)
LINKS = """
SELECT link.seq, link.prev_hash, link.hash, entry.content_hash
FROM audit_chain AS link JOIN audit_entry AS entry ON entry.id = link.entry_id ORDER BY link.seq
"""


def entries(count: int) -> list[AuditEntry]:
    return [
        AuditEntry(
            id=f"aud_{number:05d}",
            tenant_id=TenantId("acme"),
            at=utc_now(),
            origin=Origin(actor=Actor.PROJECTOR),
            action="x",
            outcome=Outcome.DONE,
        )
        for number in range(count)
    ]


async def sealer_of(database: Database, holder: str, *, steal: bool = False) -> Sealing:
    """The sealer of a projector that has just taken the lease."""
    lease = Lease(database, holder, ttl=TTL, renewal=TTL)
    await lease.take(at_once=steal)
    return Sealing(database=database, guard=lease.guard, clock=utc_now, on_sealed=lambda ends: None)


async def test_every_transition_of_finished_work_is_sealed_soon_in_one_unbroken_chain(stage: Stage) -> None:
    stage.project()
    stage.answer()
    await ended(stage, *await uploads(stage, 5))

    await stage.becomes("SELECT count(*) FROM audit_unsealed", [(0,)])

    links = await stage.bench.rows(LINKS)
    assert await stage.bench.rows("SELECT count(*) FROM audit_entry") == [(len(links),)]
    assert len(links) > 5
    previous = ""
    for place, (seq, prev_hash, link_hash, content_hash) in enumerate(links, start=1):
        assert (seq, prev_hash) == (place, previous)
        previous = chain_hash(str(prev_hash), place, str(content_hash))
        assert link_hash == previous


async def test_a_round_seals_everything_in_pieces(stage: Stage) -> None:
    sealing = await sealer_of(stage.database, "one")
    await stage.database.write(lambda conn: write_entries(conn, entries(2 * MOST_AT_ONCE + 1)))

    await sealing.round()

    assert await stage.bench.rows("SELECT max(seq), count(*) FROM audit_chain") == [(1001, 1001)]
    assert await stage.bench.rows("SELECT count(*) FROM audit_unsealed") == [(0,)]


async def test_a_sealer_whose_lease_was_taken_adds_nothing_more(stage: Stage) -> None:
    overtaken = await sealer_of(stage.database, "one")
    successor = await sealer_of(stage.database, "two", steal=True)
    await stage.database.write(lambda conn: write_entries(conn, entries(3)))

    with pytest.raises(LeaseLost):
        await overtaken.round()
    assert await stage.bench.rows("SELECT count(*) FROM audit_chain") == [(0,)]

    await successor.round()
    assert await stage.bench.rows("SELECT seq FROM audit_chain ORDER BY seq") == [(1,), (2,), (3,)]


async def test_two_sealers_at_once_make_one_chain(stage: Stage) -> None:
    """They keep taking the lease from each other, so that each again and again still believes to hold it."""
    await stage.database.write(lambda conn: write_entries(conn, entries(700)))

    async def seal_on(name: str) -> None:
        for _ in range(10):
            sealing = await sealer_of(stage.database, name, steal=True)
            try:
                await sealing.round()
            except LeaseLost:
                continue

    await asyncio.gather(seal_on("one"), seal_on("two"))

    assert await stage.bench.rows("SELECT count(*), max(seq) FROM audit_chain") == [(700, 700)]
    assert await stage.bench.rows("SELECT count(*) FROM audit_unsealed") == [(0,)]
