"""A whole gateway in this process, api, projector and worker, and ways in which its database gets into trouble."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import event

from shared.database.database import Database, open_database
from shared.database.settings import DatabaseSettings
from shared.database.sql import run
from shared.database.sqlite import SqliteDatabase
from shared.telemetry.stamps import utc_now
from tests.integration.api.harness import KNOWLEDGE, Gateway, checked_error, running_gateway, space_request
from tests.integration.services.worker.works import projector_at
from tests.support.messaging import messaging_settings
from tests.support.worker import Desk, Place, desk_at, worker_at

WITHIN = timedelta(seconds=60)
AGAIN_AFTER = 0.05


@dataclass
class Whole:
    """The gateway and what is behind it, on one database."""

    gateway: Gateway
    desk: Desk
    database: Database
    """The projector's."""
    refused: int = 0
    """How many requests were answered with 503."""

    async def insist(self, path: str, body: object, key: str) -> dict[str, Any]:
        """Post until it is taken on, with the same key each time; what is refused meanwhile is refused properly."""
        async with asyncio.timeout(WITHIN.total_seconds()):
            while (answer := await self.gateway.post(path, body, key=key)).status_code not in {201, 202}:
                refused_for_now(answer)
                self.refused += 1
                await asyncio.sleep(AGAIN_AFTER)
        data: dict[str, Any] = answer.json()["data"]
        return data

    async def space(self) -> str:
        """A space that is ACTIVE."""
        created = await self.insist("/spaces", space_request(), "the-space")
        await self.becomes("SELECT status FROM space", ("ACTIVE",))
        return str(created["spaceId"])

    async def files(self, number: int) -> list[str]:
        """Files that nobody uses yet."""
        sent = [await self.gateway.upload(f"{n}.txt", b"Text number %d." % n) for n in range(number)]
        return [str(answer.json()["data"]["fileResourceId"]) for answer in sent]

    async def rows(self, sql: str) -> list[tuple[object, ...]]:
        """What a query answers."""
        return await self.database.read(lambda conn: [tuple(row) for row in conn.exec_driver_sql(sql).all()])

    async def becomes(self, sql: str, *rows: tuple[object, ...]) -> None:
        """Wait until a query answers so."""
        async with asyncio.timeout(WITHIN.total_seconds()):
            while await self.rows(sql) != list(rows):  # noqa: ASYNC110 - a database tells nobody that it has changed
                await asyncio.sleep(0.02)

    async def all_is_well(self, documents: int) -> None:
        """Everything has succeeded, once, without a retry; nothing was given up, and the projector is where it says."""
        await self.becomes(
            "SELECT status, retry_count, count(*) FROM operation WHERE type = 'DOCUMENT_UPLOAD' GROUP BY 1, 2",
            ("SUCCEEDED", 0, documents),
        )
        await self.becomes("SELECT count(*) FROM outbox", (0,))
        await self.becomes("SELECT count(*) FROM audit_unsealed", (0,))
        assert await self.rows("SELECT count(*) FROM document") == [(documents,)]
        assert await self.rows("SELECT count(*) FROM dead_letter") == [(0,)]
        last = (await self.desk.connection.jetstream.stream_info("KNOWGATE_EVENTS")).state.last_seq
        await self.becomes("SELECT sequence FROM projector_position WHERE stream = 'KNOWGATE_EVENTS'", (last,))


def document_request(file: str, number: int) -> Mapping[str, str]:
    """What makes a document of a file."""
    return {"fileResourceId": file, "documentName": f"Document {number}"}


def refused_for_now(answer: httpx.Response) -> None:
    """What a request is answered while the database is in trouble: to be tried again, and when."""
    error = checked_error(answer, 503, "KNOWLEDGE_PROVIDER_UNAVAILABLE")
    assert error["retryable"] is True
    assert int(answer.headers["retry-after"]) >= 1


@asynccontextmanager
async def whole_at(settings: DatabaseSettings, folder: Path, nats_url: str) -> AsyncIterator[Whole]:
    """A gateway at work, its projector with a database of its own as in a process of its own."""
    place = Place(root=folder, messaging=messaging_settings(nats_url))
    database = open_database(settings)
    try:
        async with (
            desk_at(place) as desk,
            worker_at(place),
            projector_at(desk, database),
            running_gateway(settings, folder) as gateway,
        ):
            gateway.clock.now = utc_now()
            yield Whole(gateway, desk, database)
    finally:
        await database.close()


async def post_all(whole: Whole, space_id: str, files: Sequence[str], *, at_once: int = 4) -> list[str]:
    """Insist on a document of each file, several at once; the ids of their operations."""
    waiting = list(enumerate(files))
    accepted: list[str] = []

    async def post_some() -> None:
        while waiting:
            number, file = waiting.pop()
            data = await whole.insist(f"/spaces/{space_id}/documents", document_request(file, number), f"key-{number}")
            accepted.append(str(data["operationId"]))

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(post_some())
    return accepted


async def reads_of(whole: Whole, space_id: str) -> list[httpx.Response]:
    """The answers to some reads."""
    paths = ("/spaces", f"/spaces/{space_id}", f"/spaces/{space_id}/documents", "/operations/op_none")
    return [await whole.gateway.http.get(KNOWLEDGE + path, headers=whole.gateway.headers()) for path in paths]


class Disk:
    """The room that SQLite databases of one file have; without a limit until it is full."""

    ENOUGH = 1_000_000

    def __init__(self, *databases: Database) -> None:
        self._databases = databases
        self._pages = self.ENOUGH
        for database in databases:
            assert isinstance(database, SqliteDatabase)
            event.listen(database._writer._engine, "connect", self._limit)

    async def fill(self) -> None:
        """From now on the file cannot grow."""
        self._pages = 1
        await self._apply()

    async def make_room(self) -> None:
        """It can grow again."""
        self._pages = self.ENOUGH
        await self._apply()

    async def _apply(self) -> None:
        """On the connections that are open; those that are made later are told as they are opened."""
        for database in self._databases:
            await database.write(lambda conn: run(conn, f"PRAGMA max_page_count = {self._pages}").all())

    def _limit(self, connection: Any, record: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {self._pages}")
