"""Waits until everything that was accepted has ended and nothing is left to be worked on, or time is up."""

from collections.abc import Mapping, Sequence
from typing import Final

import anyio
import nats
import psycopg
from anyio import to_thread
from nats.errors import Error as NatsError
from nats.js.errors import APIError

from shared.contracts.catalogue import Stream
from tests.chaos.stage import Stage
from tests.chaos.tenants import Tenant

LOOK: Final = 0.5
SETTLED_FOR: Final = 3
"""Looks in a row that must find nothing."""

UNFINISHED: Final[Mapping[str, str]] = {
    "operation": "SELECT id FROM operation WHERE status IN ('PENDING', 'RUNNING')",
    "outbox": "SELECT command_id FROM outbox",
    "purge": "SELECT id || ' ' || status || ' of ' || coalesce(version_id, file_id) FROM purge WHERE status <> 'DONE'",
    "audit_unsealed": "SELECT entry_id FROM audit_unsealed",
    "dead_letter": "SELECT id || ' ' || error FROM dead_letter",
}
"""What must become empty, by name."""


async def until_quiet(stage: Stage, tenants: Sequence[Tenant], seconds: float) -> float:
    """How long it took. Time that is up is no error here: the oracle tells what is left."""
    started, empty = anyio.current_time(), 0
    with anyio.move_on_after(seconds):
        while empty < SETTLED_FOR:
            left = await leftovers(stage)
            is_seen = not any(tenant.running for tenant in tenants)
            empty = empty + 1 if is_seen and not any(left.values()) else 0
            await anyio.sleep(LOOK)
    return anyio.current_time() - started


async def leftovers(stage: Stage) -> Mapping[str, Sequence[str]]:
    """Everything that is still under way, by the name of its queue."""
    left = await to_thread.run_sync(lambda: _in_database(stage.url))
    return {**left, "broker": await _in_broker(stage)}


def _in_database(url: str) -> dict[str, Sequence[str]]:
    try:
        with psycopg.connect(url, connect_timeout=5) as connection:
            return {name: [str(row[0]) for row in connection.execute(query)] for name, query in UNFINISHED.items()}
    except psycopg.Error as error:
        return {"database": [str(error)]}


async def _in_broker(stage: Stage) -> Sequence[str]:
    """Messages in the commands stream, and what its consumers have still to deliver or to hear of."""
    try:
        connection = await nats.connect(stage.broker_url(), connect_timeout=2, allow_reconnect=False)
    except (NatsError, OSError, KeyError) as error:
        return [f"not reachable: {error!r}"]
    try:
        streams = connection.jsm()
        look = await streams.stream_info(Stream.COMMANDS)
        left = [f"{look.state.messages} messages"] if look.state.messages else []
        left.extend(
            f"{consumer.name}: {consumer.num_pending} pending, {consumer.num_ack_pending} not acked"
            for consumer in await streams.consumers_info(Stream.COMMANDS)
            if consumer.num_pending or consumer.num_ack_pending
        )
    except (NatsError, APIError, OSError) as error:
        return [f"not answering: {error!r}"]
    else:
        return left
    finally:
        await connection.close()
