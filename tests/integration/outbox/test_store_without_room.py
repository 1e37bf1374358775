"""The broker's store has no room left: nothing is lost and nothing counted, and room makes everything go on."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from nats.js.client import JetStreamContext
from nats.js.errors import ServiceUnavailableError
from structlog.testing import capture_logs

from shared.contracts.enums import OperationStatus
from shared.database.database import Database
from shared.database.settings import DatabaseSettings
from shared.messaging.local_server import LocalNatsServer, find_program
from tests.integration.services.worker.works import works_at
from tests.support.eventually import until
from tests.support.messaging import messaging_settings
from tests.support.worker import Place

Opener = Callable[[DatabaseSettings], Database]

MIB = 1024 * 1024
DOCUMENTS = 5
WITH_LITTLE_ROOM = """#!/bin/sh
for argument in "$@"; do
    case "$argument" in *.conf) sed -i 's/max_file_store: 100GB/max_file_store: 16MB/' "$argument" ;; esac
done
exec '{program}' "$@"
"""


@pytest.fixture
def cramped(tmp_path: Path) -> Iterator[LocalNatsServer]:
    """A server whose store holds 16 MB."""
    program = tmp_path / "nats-server"
    program.write_text(WITH_LITTLE_ROOM.format(program=find_program()))
    program.chmod(0o700)
    with LocalNatsServer(tmp_path / "nats", program=program) as server:
        yield server


async def fill(jetstream: JetStreamContext) -> None:
    """Take what room there is, in smaller and smaller pieces."""
    await jetstream.add_stream(name="FILLER", subjects=["filler"])
    for size in (MIB // 4, 16_384, 512):
        with suppress(ServiceUnavailableError):
            while True:
                await jetstream.publish("filler", bytes(size))


async def test_what_the_broker_has_no_room_for_waits_in_the_tables(
    cramped: LocalNatsServer, sqlite: DatabaseSettings, opened: Opener, tmp_path: Path
) -> None:
    messaging = messaging_settings(cramped.url).model_copy(update={"commands_max_bytes": 4 * MIB})
    place = Place(root=tmp_path, messaging=messaging)
    async with works_at(place, opened(sqlite)) as works:
        space_id = await works.space()
        jetstream = works.desk.connection.jetstream
        await fill(jetstream)
        with capture_logs() as logs:
            accepted = [await works.upload(space_id) for _ in range(DOCUMENTS)]
            await until(lambda: any(log["event"] == "projector.stream.full" for log in logs))
        assert await works.bench.rows("SELECT count(*) FROM outbox WHERE sequence IS NULL") == [(DOCUMENTS,)]
        await jetstream.purge_stream("FILLER")
        ended = [await works.ended(one.work.operation.id) for one in accepted]
        assert {(one.status, one.retry_count) for one in ended} == {(OperationStatus.SUCCEEDED, 0)}
        await works.at_rest()
