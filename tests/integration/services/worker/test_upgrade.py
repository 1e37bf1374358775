"""A rolling upgrade: two releases at once, with messages of both in both streams, and nothing is lost or counted."""

import asyncio
from collections.abc import Callable, MutableMapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from shared.contracts.catalogue import Stream
from shared.contracts.enums import EventType
from shared.contracts.events import SpaceProvisioned
from shared.contracts.ids import OperationId
from shared.database.database import Database
from shared.database.outbox import find_commands
from shared.messaging.codec import event_message, version_of
from shared.providers.scripted.script import Call
from shared.telemetry.stamps import utc_now
from tests.integration.lifecycle.bench import Bench, Watch
from tests.integration.services.worker.works import QUICK, Works, projector_at
from tests.support.messaging import messaging_settings
from tests.support.releases import OLDER, THIS, OlderDatabase
from tests.support.worker import Place, desk_at, worker_at

pytestmark = pytest.mark.anyio

Logs = Sequence[MutableMapping[str, Any]]
PIECE = 6
MOST_PIECES = 20
POSITION = "SELECT sequence FROM projector_position WHERE stream = 'KNOWGATE_EVENTS'"


@pytest.fixture
def place(nats_url: str, tmp_path: Path) -> Place:
    return Place(root=tmp_path, messaging=messaging_settings(nats_url))


def has(logs: Logs, event: str) -> Callable[[], bool]:
    return lambda: any(log["event"] == event for log in logs)


async def statuses(works: Works, operations: Sequence[OperationId]) -> set[tuple[str, int]]:
    """How they have ended, and after how many retries."""
    ended = [await works.ended(operation) for operation in operations]
    return {(operation.status.value, operation.retry_count) for operation in ended}


async def test_work_of_both_releases_ends_once_while_their_processes_run_side_by_side(
    place: Place, database: Database
) -> None:
    """Workers and projectors of the new release are started beside those of the old one, and the old ones stopped."""
    older = OlderDatabase(database)
    async with AsyncExitStack() as new, desk_at(place) as desk:
        this_api = Works(desk, Bench(database, watch=Watch(utc_now()), settings=QUICK))
        older_api = Works(desk, Bench(older, this_api.bench.watch, QUICK, this_api.bench.numbers), this_api.numbers)
        operations: list[OperationId] = []
        with capture_logs() as logs:
            async with (
                worker_at(place, schema=OLDER),
                projector_at(desk, older, holder="older", schema=OLDER),
            ):
                space = await older_api.space()
                await new.enter_async_context(worker_at(place, schema=THIS))
                await new.enter_async_context(projector_at(desk, database, holder="this", schema=THIS))
                for _ in range(MOST_PIECES):
                    for works in (older_api, this_api):
                        operations += [(await works.upload(space)).work.operation.id for _ in range(PIECE)]
                    if has(logs, "projector.event.newer")() and has(logs, "worker.command.newer")():
                        break
                    assert await statuses(this_api, operations) == {("SUCCEEDED", 0)}
                assert await statuses(this_api, operations) == {("SUCCEEDED", 0)}
            operations += [(await older_api.upload(space)).work.operation.id for _ in range(PIECE)]
            assert await statuses(this_api, operations) == {("SUCCEEDED", 0)}
        assert has(logs, "projector.event.newer")()
        assert has(logs, "worker.command.newer")()
        await this_api.at_rest()
        await nothing_was_lost_or_counted(this_api, operations)


async def nothing_was_lost_or_counted(works: Works, operations: Sequence[OperationId]) -> None:
    number = len(operations)
    rows = works.bench.rows
    assert await rows("SELECT count(*) FROM dead_letter") == [(0,)]
    assert await rows("SELECT count(*) FROM purge") == [(0,)]
    assert await rows(
        "SELECT count(*), count(DISTINCT operation_id) FROM audit_entry WHERE action = 'operation.succeeded' "
        "AND operation_id IN (SELECT id FROM operation WHERE type = 'DOCUMENT_UPLOAD')"
    ) == [(number, number)]
    assert await rows("SELECT holder FROM lease") == [("this",)]
    versions = [str(version) for (version,) in await rows("SELECT id FROM document_version")]
    assert [works.provider.calls(Call.START, version) for version in versions] == [1] * number


async def test_a_projector_applies_nothing_behind_an_event_of_a_newer_release(place: Place, database: Database) -> None:
    async with desk_at(place) as desk:
        bench = Bench(database, settings=QUICK)
        works = Works(desk, bench)
        spaces = [await bench.create_space(code) for code in ("first", "second", "third")]
        provisioned = SpaceProvisioned(native_space_id="native")
        events = [bench.event(space.command.command_id, EventType.SUCCEEDED, result=provisioned) for space in spaces]
        for event, schema in zip(events, (OLDER, THIS, OLDER), strict=True):
            await desk.publish(event_message(event, source="worker", traceparent=None, schema=schema))
        operations = [space.work.operation.id for space in spaces]
        with capture_logs() as logs:
            async with projector_at(desk, database, holder="older", schema=OLDER):
                await works.ended(operations[0])
                async with asyncio.timeout(20):
                    while not has(logs, "projector.event.newer")():  # noqa: ASYNC110 - a log tells nobody
                        await asyncio.sleep(0.02)
                await works.becomes(POSITION, (1,))
                assert [(await bench.operation(one)).is_over for one in operations] == [True, False, False]
                assert await bench.rows("SELECT count(*) FROM dead_letter") == [(0,)]
                async with projector_at(desk, database, holder="this", schema=THIS):
                    assert await statuses(works, operations) == {("SUCCEEDED", 0)}
        (told,) = [log for log in logs if log["event"] == "projector.event.newer"]
        assert (told["log_level"], told["version"]) == ("error", 1)
        assert told["error"].endswith("upgrade this process.")


async def test_what_an_older_release_left_in_the_outbox_is_published_as_it_is(place: Place, database: Database) -> None:
    async with desk_at(place) as desk:
        works = Works(desk, Bench(OlderDatabase(database), watch=Watch(utc_now()), settings=QUICK))
        owner = (await works.bench.create_space()).work.operation.id
        (row,) = await database.read(lambda conn: find_commands(conn, {owner}))
        assert version_of(row.body) == 0
        async with projector_at(desk, database, schema=THIS):
            await works.becomes("SELECT sequence FROM outbox", (1,))
            message = await desk.connection.jetstream.get_msg(Stream.COMMANDS, 1)
            assert (message.data, (message.headers or {})["ce-type"]) == (row.body, "com.knowgate.ProvisionSpace.v0")
            async with worker_at(place, schema=THIS):
                assert await statuses(works, [owner]) == {("SUCCEEDED", 0)}
