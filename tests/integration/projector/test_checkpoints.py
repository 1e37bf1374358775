"""Checkpoints beside the projector: of every chain that has grown, into the file, and handed on to the stream."""

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection

from services.projector.checkpoints import Checkpoints, Signing
from services.projector.lease import Lease
from shared.auth.checkpoint_file import CheckpointFile
from shared.auth.checkpoints import CheckpointSigner
from shared.auth.development import new_signing_key
from shared.contracts.audit_messages import CheckpointSigned
from shared.database.audit import write_entries
from shared.database.audit_chain import all_heads
from shared.database.audit_publications import load_publications, note_published
from shared.database.database import Database
from shared.database.errors import LeaseLost
from shared.lifecycle.seal_audit import seal_audit
from tests.integration.projector.test_publishing import entry_of
from tests.support.clocks import WallClock

pytestmark = pytest.mark.anyio

TTL = timedelta(seconds=60)


class Notary:
    """Checkpoints with their database, and what was handed on."""

    def __init__(self, database: Database, lease: Lease, path: Path | None) -> None:
        self.database = database
        self.clock = WallClock()
        self.handed_on: list[CheckpointSigned] = []
        signing = Signing(
            every=TTL,
            signer=CheckpointSigner(new_signing_key()),
            file=None if path is None else CheckpointFile(path),
        )
        self.checkpoints = Checkpoints(
            database=database, signing=signing, guard=lease.guard, clock=self.clock, on_signed=self._hand_on
        )

    def _hand_on(self, checkpoints: Iterable[CheckpointSigned]) -> None:
        self.handed_on.extend(checkpoints)

    async def happen(self, *tenants: str | None) -> None:
        def work(conn: Connection) -> None:
            write_entries(conn, [entry_of(tenant) for tenant in tenants])
            seal_audit(conn, self.clock(), limit=len(tenants))

        await self.database.write(work)

    def places(self) -> list[tuple[str, int]]:
        return sorted((one.chain, one.seq) for one in self.handed_on)


async def notary_of(database: Database, path: Path | None) -> Notary:
    lease = Lease(database, "one", ttl=TTL, renewal=TTL)
    await lease.take(at_once=True)
    return Notary(database, lease, path)


async def test_every_chain_that_has_grown_is_signed_once(database: Database, tmp_path: Path) -> None:
    notary = await notary_of(database, tmp_path / "checkpoints.jsonl")
    await notary.happen("acme", "acme", "globex", None)
    await notary.checkpoints.round()
    await notary.checkpoints.round()
    await notary.happen("globex")
    await notary.checkpoints.round()

    assert notary.places() == [("acme", 2), ("globex", 1), ("globex", 2), ("system", 1)]
    assert [one for _, one in CheckpointFile(tmp_path / "checkpoints.jsonl").read()] == notary.handed_on
    heads = await database.read(all_heads)
    assert {(one.chain, one.seq): one.hash for one in notary.handed_on}["acme", 2] == heads["acme"].hash


async def test_how_far_a_chain_is_signed_and_published_are_kept_apart(database: Database) -> None:
    notary = await notary_of(database, None)
    await notary.happen("acme", "acme")
    await database.write(lambda conn: note_published(conn, "a stream", {"acme": 1}))
    await notary.checkpoints.round()
    await database.write(lambda conn: note_published(conn, "a stream", {"acme": 2}))

    (row,) = (await database.read(load_publications)).values()

    assert (row.stream_created, row.seq, row.checkpoint_seq, row.checkpoint_at) == ("a stream", 2, 2, notary.clock())


async def test_the_age_is_that_of_the_last_time_that_all_was_signed(database: Database) -> None:
    notary = await notary_of(database, None)
    assert notary.checkpoints.age is None

    await notary.checkpoints.round()
    notary.clock.advance(timedelta(seconds=30))

    assert notary.checkpoints.age == timedelta(seconds=30)


async def test_a_line_that_could_not_be_written_is_written_with_the_next_round(
    database: Database, tmp_path: Path
) -> None:
    folder = tmp_path / "later"
    notary = await notary_of(database, folder / "checkpoints.jsonl")
    await notary.happen("acme")
    with pytest.raises(FileNotFoundError):
        await notary.checkpoints.round()
    folder.mkdir()

    await notary.checkpoints.round()

    assert notary.places() == [("acme", 1)]


async def test_a_projector_whose_lease_was_taken_hands_on_nothing(database: Database) -> None:
    notary = await notary_of(database, None)
    await notary.happen("acme")
    await Lease(database, "two", ttl=TTL, renewal=TTL).take(at_once=True)

    with pytest.raises(LeaseLost):
        await notary.checkpoints.round()

    assert notary.handed_on == []
