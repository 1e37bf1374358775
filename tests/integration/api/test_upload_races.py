"""An upload that two processes finish at once is one file, and nobody is told that it failed."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Literal, TypeVar

import httpx
from sqlalchemy import Connection

from services.api.app import build_app
from services.api.parts import Parts
from shared.contracts.ids import SubjectId, TenantId, UploadId
from shared.database.database import Database
from shared.database.uploads import Upload, forget_parts, parts_of
from shared.domain.authorization import DEFAULT_ROLES
from shared.domain.identity import Caller
from shared.files.store import ByteSpan, FileStore
from shared.lifecycle.request import Request
from shared.lifecycle.resumable_upload import refuse_upload
from tests.integration.api.harness import Gateway
from tests.integration.api.uploading import (
    TEXT,
    begun,
    content_of,
    look,
    rows,
    send,
    stored_objects,
    whole_but_unfinished,
)

T = TypeVar("T")

ALICE_HERSELF = Caller(
    tenant=TenantId("acme"),
    subject=SubjectId("alice"),
    roles=("knowledge-admin",),
    domains=("general",),
    session_id="s",
    service="harness",
)


class Gate:
    """Holds the first who comes until it is opened."""

    def __init__(self) -> None:
        self.is_reached = asyncio.Event()
        self.is_open = asyncio.Event()

    async def go_through(self) -> None:
        """Wait, if nobody has before."""
        if not self.is_reached.is_set():
            self.is_reached.set()
            await self.is_open.wait()


class HeldDatabase:
    """Whoever has read of an upload that it is whole is held before anything else."""

    def __init__(self, database: Database, gate: Gate) -> None:
        self._database = database
        self._gate = gate

    @property
    def dialect(self) -> Literal["sqlite", "postgresql"]:
        return self._database.dialect

    async def write(self, work: Callable[[Connection], T]) -> T:
        return await self._database.write(work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        found = await self._database.read(work)
        if isinstance(found, Upload) and found.is_whole:
            await self._gate.go_through()
        return found

    def write_blocking(self, work: Callable[[Connection], T]) -> T:
        return self._database.write_blocking(work)

    def read_blocking(self, work: Callable[[Connection], T]) -> T:
        return self._database.read_blocking(work)

    async def close(self) -> None:
        await self._database.close()


class HeldStore(FileStore):
    """Whoever reads a second object is held before it."""

    gate: Gate
    has_read = False

    async def get_stream(self, key: str, span: ByteSpan | None = None) -> AsyncIterator[bytes]:
        if self.has_read:
            await self.gate.go_through()
        self.has_read = True
        async for piece in super().get_stream(key, span):
            yield piece


@asynccontextmanager
async def other_process(gateway: Gateway, parts: Parts) -> AsyncIterator[Gateway]:
    """Another api on the same database and objects."""
    app = build_app(parts)
    transport = httpx.ASGITransport(app, raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="http://other", trust_env=False) as http:
        yield replace(gateway, app=app, http=http, parts=parts)


async def finished_in_between(gateway: Gateway, parts: Parts, gate: Gate) -> None:
    """Send the last bytes to a process that is held while it finishes, and let `gateway` finish meanwhile."""
    path = await begun(gateway)
    await send(gateway, path, 0, TEXT[:500])
    async with other_process(gateway, parts) as slow:
        sending = asyncio.ensure_future(send(slow, path, 500, TEXT[500:]))
        async with asyncio.timeout(20):
            await gate.is_reached.wait()
        looked = await look(gateway, path)
        gate.is_open.set()
        sent = await sending

    resource_id = looked.headers["x-file-resource-id"]
    assert (sent.status_code, sent.text) == (204, "")
    assert sent.headers["upload-offset"] == str(len(TEXT))
    assert sent.headers["x-file-resource-id"] == resource_id
    assert sent.headers["x-file-deduplicated"] == looked.headers["x-file-deduplicated"] == "false"
    assert (await look(gateway, path)).headers["x-file-resource-id"] == resource_id
    assert await content_of(gateway, resource_id) == TEXT
    assert stored_objects(gateway) == 1
    assert await rows(gateway) == (1, 0)


async def test_who_finds_no_parts_any_more_gives_what_another_process_has_made_of_them(either: Gateway) -> None:
    gate = Gate()

    await finished_in_between(either, replace(either.parts, database=HeldDatabase(either.parts.database, gate)), gate)


async def test_who_loses_the_parts_while_reading_gives_what_another_process_has_made_of_them(either: Gateway) -> None:
    store = HeldStore.open(either.objects.as_uri())
    store.gate = Gate()

    await finished_in_between(either, replace(either.parts, store=store), store.gate)


async def test_parts_that_are_not_to_be_found_are_no_empty_file(gateway: Gateway) -> None:
    path = await whole_but_unfinished(gateway)
    upload_id = UploadId(path.rpartition("/")[2])
    await gateway.parts.database.write(lambda conn: forget_parts(conn, upload_id, ["objects/00/left-behind"]))

    answer = await look(gateway, path)

    assert (answer.status_code, answer.headers["x-error-code"]) == (503, "KNOWLEDGE_PROVIDER_UNAVAILABLE")
    assert await rows(gateway) == (1, 0)


async def test_a_refusal_that_comes_late_ends_no_upload_that_is_a_file(either: Gateway) -> None:
    path = await begun(either)
    sent = await send(either, path, 0, TEXT)
    upload_id, around = UploadId(path.rpartition("/")[2]), either.parts.around
    request = Request(
        caller=ALICE_HERSELF,
        roles=DEFAULT_ROLES,
        traceparent="00-" + "1" * 32 + "-" + "2" * 16 + "-01",
        request_id="r",
        tool_call_id="t",
    )

    known = await either.parts.database.write(lambda conn: refuse_upload(conn, upload_id, request, around))

    assert known is not None
    assert known.resource.id == sent.headers["x-file-resource-id"]
    assert (await look(either, path)).headers["x-file-resource-id"] == known.resource.id
    assert await either.parts.database.read(lambda conn: parts_of(conn, upload_id)) == []
