"""Three brokers that keep everything three times: leaders die, the majority goes away, and nothing is lost."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from shared.contracts.catalogue import Stream
from shared.database.database import Database
from shared.database.settings import DatabaseSettings
from shared.domain.errors import StoreUnavailable
from shared.messaging.connection import Connection, connect
from shared.messaging.settings import MessagingSettings
from shared.messaging.streams import declare
from tests.integration.broker.conftest import ACK_WAIT, Ground, ground_on
from tests.integration.broker.working import accept, endings, retries
from tests.support.cluster import LocalCluster
from tests.support.messaging import messaging_settings

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[LocalCluster]:
    """A cluster of the test's own."""
    with LocalCluster(tmp_path / "cluster") as cluster:
        yield cluster


@pytest.fixture
async def clustered(
    cluster: LocalCluster, sqlite: DatabaseSettings, opened: Callable[[DatabaseSettings], Database], tmp_path: Path
) -> AsyncIterator[Ground]:
    """The ground on a cluster, with streams in three copies."""
    settings = messaging_settings(cluster.url, ack_wait=ACK_WAIT).model_copy(update={"replicas": 3})
    async with Declared(settings) as connection, ground_on(opened(sqlite), connection, settings, tmp_path) as ground:
        yield ground


class Declared:
    """A connection to a cluster that has agreed on everything that we declare; it may need a moment."""

    def __init__(self, settings: MessagingSettings) -> None:
        self._settings = settings
        self.closed: list[str] = []

    async def __aenter__(self) -> Connection:
        self._connection = await connect(self._settings, name="test", on_closed=self.closed.append)
        async with asyncio.timeout(60):
            while True:
                try:
                    await declare(self._connection.jetstream, self._settings)
                except StoreUnavailable:
                    await asyncio.sleep(0.2)
                else:
                    return self._connection

    async def __aexit__(self, *_: object) -> None:
        await self._connection.close()
        assert self.closed == []


async def test_a_leader_that_dies_and_a_majority_that_goes_away_cost_nothing(
    clustered: Ground, cluster: LocalCluster
) -> None:
    stage = clustered.stage
    stage.project()
    async with clustered.worker():
        operations = await accept(stage, 20)
        first = await cluster.leader_of(Stream.COMMANDS, stage.connection)
        await asyncio.to_thread(first.end)
        second = await cluster.leader_of(Stream.COMMANDS, stage.connection)
        assert second is not first
        assert await endings(stage, operations) == ["SUCCEEDED"] * 20
        await asyncio.to_thread(cluster.start)

        more = await accept(stage, 20, space="plans")
        for node in cluster.nodes[1:]:
            await asyncio.to_thread(node.end)
        await asyncio.sleep(3)
        await asyncio.to_thread(cluster.start)
        assert await endings(stage, more) == ["SUCCEEDED"] * 20
    assert await retries(stage, [*operations, *more]) == 0
    assert await stage.bench.rows("SELECT count(*) FROM outbox") == [(0,)]


async def test_a_connection_goes_on_to_every_server_of_the_cluster_with_what_lets_it_in(cluster: LocalCluster) -> None:
    """Also to those that only the cluster itself has named: their addresses say nothing of who we are."""
    only_one = messaging_settings(cluster.url.partition(",")[0])
    lost: list[str] = []
    connection = await connect(only_one, name="test", on_closed=lost.append)
    generation = 0
    for node in (*cluster.nodes, *cluster.nodes):
        others = [other for other in cluster.nodes if other is not node]
        await asyncio.to_thread(node.end)
        await until_heard(connection)
        assert connection.client.connected_url is not None
        assert connection.client.connected_url.port in {other.port for other in others}
        await asyncio.to_thread(cluster.start)
        generation = connection.generation
    await connection.close()
    assert lost == []
    assert generation >= 1


async def until_heard(connection: Connection) -> None:
    """Return when a server answers on a connection."""
    async with asyncio.timeout(60):
        while True:
            try:
                await connection.flush(timedelta(seconds=5))
            except StoreUnavailable:
                await asyncio.sleep(0.1)
            else:
                return
