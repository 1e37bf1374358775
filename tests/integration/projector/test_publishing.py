"""The publisher of the audit: every sealed entry in order, without a hole, whatever becomes of the broker."""

import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection as DatabaseConnection

from services.projector.lease import Lease
from services.projector.publishing import MOST_AT_ONCE, Publishing
from shared.auth.checkpoints import CheckpointSigner
from shared.auth.development import new_signing_key
from shared.contracts.audit_messages import CheckpointSigned, EntrySealed
from shared.contracts.catalogue import Stream
from shared.contracts.ids import TenantId
from shared.database.audit import write_entries
from shared.database.audit_chain import all_heads
from shared.database.audit_publications import load_publications
from shared.database.database import Database
from shared.database.errors import LeaseLost
from shared.domain.audit import Actor, AuditEntry, Origin, Outcome
from shared.lifecycle.seal_audit import seal_audit
from shared.messaging.audit_codec import read_audit_message
from shared.messaging.connection import Connection
from shared.messaging.local_server import LocalNatsServer
from shared.messaging.publisher import Publisher
from shared.messaging.reader import EventReader
from shared.messaging.settings import MessagingSettings
from shared.messaging.stream_state import StoredMessage
from shared.messaging.streams import declare
from shared.telemetry.stamps import new_id, utc_now
from tests.support.eventually import until
from tests.support.messaging import connected, messaging_settings

pytestmark = pytest.mark.anyio

TTL = timedelta(seconds=60)
AUDIT = Stream.AUDIT.value


class Desk:
    """A publisher with its database and broker, and what a test does to them."""

    def __init__(self, database: Database, connection: Connection, settings: MessagingSettings, lease: Lease) -> None:
        self.database = database
        self.connection = connection
        self.settings = settings
        self.lease = lease
        self.publishing = self.of_another_term()

    def of_another_term(self) -> Publishing:
        return Publishing(
            database=self.database,
            connection=self.connection,
            publisher=Publisher(self.connection, self.settings),
            guard=self.lease.guard,
        )

    async def happen(self, *tenants: str | None) -> None:
        """Something happens in each of these, and is sealed."""

        def work(conn: DatabaseConnection) -> dict[str, int]:
            write_entries(conn, [entry_of(tenant) for tenant in tenants])
            return dict(seal_audit(conn, utc_now(), limit=len(tenants)).ends)

        self.publishing.grown(await self.database.write(work))

    async def held(self) -> list[StoredMessage]:
        """Everything in the audit stream."""
        reader = EventReader(self.connection, self.settings, stream=AUDIT)
        last = (await reader.look()).last_sequence
        return [message for seq in range(1, last + 1) if (message := await reader.message_at(seq)) is not None]

    async def places(self) -> list[tuple[str, int]]:
        """Kind and chain of what is in the stream, with its place."""
        told = [read_audit_message(message.body) for message in await self.held()]
        assert all(isinstance(one, EntrySealed | CheckpointSigned) for one in told)
        return [(f"{one.kind} {one.chain}", one.seq) for one in told if one is not None]

    async def marks(self) -> dict[str, int]:
        rows = await self.database.read(load_publications)
        return {chain: row.seq for chain, row in rows.items()}


def entry_of(tenant: str | None) -> AuditEntry:
    """Something that happened in a tenant, or in none."""
    return AuditEntry(
        id=new_id("aud"),
        tenant_id=None if tenant is None else TenantId(tenant),
        at=utc_now(),
        origin=Origin(actor=Actor.PROJECTOR),
        action="operation.succeeded",
        outcome=Outcome.DONE,
        details={"number": 0.5, "text": "泵"},
    )


def placed(chain: str, numbers: Sequence[int]) -> list[tuple[str, int]]:
    return [(f"EntrySealed {chain}", number) for number in numbers]


@asynccontextmanager
async def desk_at(database: Database, url: str) -> AsyncIterator[Desk]:
    settings = messaging_settings(url)
    lease = Lease(database, "one", ttl=TTL, renewal=TTL)
    await lease.take(at_once=True)
    async with connected(settings) as connection:
        yield Desk(database, connection, settings, lease)


@pytest.fixture
async def desk(database: Database, nats_url: str) -> AsyncIterator[Desk]:
    async with desk_at(database, nats_url) as desk:
        yield desk


async def test_what_is_sealed_is_published_in_order_under_its_place_in_its_chain(desk: Desk) -> None:
    await desk.happen("acme", "globex", None, "acme")
    await desk.publishing.round()

    assert sorted(await desk.places()) == sorted(placed("acme", [1, 2]) + placed("globex", [1]) + placed("system", [1]))
    assert await desk.marks() == {"acme": 2, "globex": 1, "system": 1}
    assert desk.publishing.unpublished == 0
    first = (await desk.held())[0]
    assert first.subject == "knowgate.audit.qivthlmhyfekbiqklot42xv4vj"
    assert first.message_id == "qivthlmhyfekbiqklot42xv4vj.1"
    assert (first.headers["ce-type"], first.headers["ce-tenant"]) == ("com.knowgate.EntrySealed.v1", "acme")


async def test_a_published_entry_is_the_whole_entry(desk: Desk) -> None:
    await desk.happen("acme")
    await desk.publishing.round()

    told = read_audit_message((await desk.held())[0].body)

    assert isinstance(told, EntrySealed)
    head = (await desk.database.read(all_heads))["acme"]
    assert (told.seq, told.hash, told.prev_hash) == (1, head.hash, "")
    assert (told.tenant_id, told.action, told.outcome) == ("acme", "operation.succeeded", "done")
    assert told.details == {"number": 0.5, "text": "泵"}


async def test_another_term_goes_on_where_the_last_one_was(desk: Desk) -> None:
    await desk.happen("acme", "acme")
    await desk.publishing.round()
    desk.publishing = desk.of_another_term()
    await desk.happen("acme")
    await desk.publishing.round()
    await desk.of_another_term().round()

    assert await desk.places() == placed("acme", [1, 2, 3])


async def test_entries_that_were_sealed_before_anybody_published_are_found(desk: Desk) -> None:
    await desk.happen(*["acme"] * (MOST_AT_ONCE + 5), "globex")

    await desk.of_another_term().round()

    assert await desk.marks() == {"acme": MOST_AT_ONCE + 5, "globex": 1}
    assert [place for name, place in await desk.places() if name.endswith("acme")] == list(range(1, MOST_AT_ONCE + 6))


async def test_a_stream_that_was_lost_and_made_again_gets_everything(desk: Desk) -> None:
    await desk.happen("acme", "acme", "globex")
    await desk.publishing.round()
    await desk.connection.jetstream.delete_stream(AUDIT)
    await declare(desk.connection.jetstream, desk.settings)
    await desk.happen("acme")

    await desk.publishing.look()
    await desk.publishing.round()

    assert sorted(await desk.places()) == placed("acme", [1, 2, 3]) + placed("globex", [1])
    assert await desk.marks() == {"acme": 3, "globex": 1}


async def test_a_stream_that_a_power_cut_rolled_back_gets_again_what_it_has_lost(
    database: Database, tmp_path: Path
) -> None:
    store, saved = tmp_path / "nats", tmp_path / "saved"
    with LocalNatsServer(store) as server:
        async with desk_at(database, server.url) as desk:
            await desk.happen("acme", "globex")
            await desk.publishing.round()
            server.stop()
            shutil.copytree(store, saved)
            server.start()
            await until(lambda: desk.connection.generation == 1)
            await desk.happen("acme", "acme")
            await desk.publishing.round()
            assert (await desk.places())[-2:] == placed("acme", [2, 3])

            server.kill()
            shutil.rmtree(store)
            shutil.copytree(saved, store)
            server.start()
            await until(lambda: desk.connection.generation == 2)
            await desk.publishing.round()

            assert sorted(await desk.places()) == placed("acme", [1, 2, 3]) + placed("globex", [1])


async def test_while_the_broker_is_away_entries_wait_and_none_is_left_out(database: Database, tmp_path: Path) -> None:
    with LocalNatsServer(tmp_path) as server:
        async with desk_at(database, server.url) as desk:
            await desk.happen("acme")
            await desk.publishing.round()
            server.kill()
            await until(lambda: not desk.connection.is_connected)
            await desk.happen("acme", "acme")
            await desk.publishing.round()
            assert desk.publishing.unpublished == 2

            server.start()
            await until(lambda: desk.connection.is_connected)
            await desk.publishing.round()

            assert await desk.places() == placed("acme", [1, 2, 3])
            assert desk.publishing.unpublished == 0


async def test_a_publisher_whose_lease_was_taken_notes_nothing(desk: Desk) -> None:
    await desk.happen("acme")
    await Lease(desk.database, "two", ttl=TTL, renewal=TTL).take(at_once=True)

    with pytest.raises(LeaseLost):
        await desk.publishing.round()

    assert await desk.marks() == {}


async def test_a_checkpoint_stands_behind_what_it_is_of(desk: Desk) -> None:
    signer = CheckpointSigner(new_signing_key())
    await desk.publishing.round()
    desk.publishing.signed([signer.sign("acme", 2, "a" * 64, utc_now())])
    await desk.publishing.round()
    assert await desk.places() == []

    await desk.happen("acme", "acme", "acme")
    await desk.publishing.round()
    await desk.publishing.round()

    assert await desk.places() == [*placed("acme", [1, 2, 3]), ("CheckpointSigned acme", 2)]
