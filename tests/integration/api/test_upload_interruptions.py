"""Uploads that are broken off, continued, finished by others, ended or forgotten."""

import asyncio
import io
from collections.abc import AsyncIterator
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from starlette.types import Message
from tusclient.client import TusClient

from services.api.uploads.assembly import upload_clearing
from shared.contracts.uploads import OFFSET_BYTES, UPLOADS
from tests.integration.api.harness import Gateway
from tests.integration.api.serving import served
from tests.integration.api.uploading import (
    TEXT,
    begun,
    content_of,
    end,
    look,
    rows,
    send,
    stored_objects,
    whole_but_unfinished,
)


async def test_another_offset_than_the_uploads_own_changes_nothing(gateway: Gateway) -> None:
    path = await begun(gateway)
    await send(gateway, path, 0, TEXT[:100])

    for offset in (0, 99, 101):
        answer = await send(gateway, path, offset, TEXT[100:200])
        assert (answer.status_code, answer.headers["x-error-code"]) == (409, "KNOWLEDGE_CONFLICT")
        assert answer.headers["content-type"].startswith("text/plain")

    assert (await look(gateway, path)).headers["upload-offset"] == "100"
    assert stored_objects(gateway) == 1


async def test_of_two_that_continue_at_once_one_does_and_the_other_is_told(gateway: Gateway) -> None:
    path = await begun(gateway)
    both_begun = asyncio.Barrier(2)

    async def slowly(content: bytes) -> AsyncIterator[bytes]:
        yield content[:1]
        await both_begun.wait()
        yield content[1:]

    answers = await asyncio.gather(send(gateway, path, 0, slowly(TEXT)), send(gateway, path, 0, slowly(TEXT)))

    assert sorted(answer.status_code for answer in answers) == [204, 409]
    assert stored_objects(gateway) == 1
    resource_id = (await look(gateway, path)).headers["x-file-resource-id"]
    assert await content_of(gateway, resource_id) == TEXT


async def send_and_stop(gateway: Gateway, path: str, content: bytes, stop: Exception | None) -> list[Message]:
    """Send bytes that are not all; then the connection is lost, or `stop` comes of waiting for more. The answer."""
    answered: list[Message] = []
    has_sent = False

    async def receive() -> Message:
        nonlocal has_sent
        if not has_sent:
            has_sent = True
            return {"type": "http.request", "body": content, "more_body": True}
        if stop is not None:
            raise stop
        return {"type": "http.disconnect"}

    async def answer(message: Message) -> None:
        answered.append(message)

    headers = gateway.headers(tus_resumable="1.0.0", upload_offset="0", content_type=OFFSET_BYTES)
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "PATCH",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    await gateway.app(scope, receive, answer)
    return answered


async def test_a_lost_connection_keeps_what_has_arrived(gateway: Gateway) -> None:
    path = await begun(gateway)

    assert await send_and_stop(gateway, path, TEXT[:300], None) == []

    assert (await look(gateway, path)).headers["upload-offset"] == "300"
    last = await send(gateway, path, 300, TEXT[300:])
    assert await content_of(gateway, last.headers["x-file-resource-id"]) == TEXT


async def test_a_body_that_stalls_is_refused_and_what_has_arrived_is_kept(gateway: Gateway) -> None:
    path = await begun(gateway)

    begins, *texts = await send_and_stop(gateway, path, TEXT[:300], TimeoutError())

    assert begins["status"] == 422
    assert b"No more of the body has come for a while" in b"".join(text["body"] for text in texts)
    assert (await look(gateway, path)).headers["upload-offset"] == "300"


async def test_a_look_finishes_what_a_killed_process_did_not(gateway: Gateway) -> None:
    path = await whole_but_unfinished(gateway)

    answers = await asyncio.gather(*(look(gateway, path) for _ in range(4)))

    resource_ids = {answer.headers["x-file-resource-id"] for answer in answers}
    assert len(resource_ids) == 1
    assert await content_of(gateway, resource_ids.pop()) == TEXT
    assert stored_objects(gateway) == 1


async def test_an_empty_continuation_finishes_it_too(gateway: Gateway) -> None:
    path = await whole_but_unfinished(gateway)

    answer = await send(gateway, path, len(TEXT), b"")

    assert (answer.status_code, answer.headers["upload-offset"]) == (204, str(len(TEXT)))
    assert await content_of(gateway, answer.headers["x-file-resource-id"]) == TEXT


async def test_an_upload_that_is_ended_leaves_nothing(gateway: Gateway) -> None:
    path = await begun(gateway)
    await send(gateway, path, 0, TEXT[:100])

    assert (await end(gateway, path)).status_code == 204

    assert stored_objects(gateway) == 0
    assert await rows(gateway) == (0, 0)
    assert (await end(gateway, path)).status_code == 404


async def test_an_upload_that_nobody_continues_expires_and_leaves_nothing(gateway: Gateway) -> None:
    path = await begun(gateway)
    gateway.clock.move(timedelta(hours=23))
    await send(gateway, path, 0, TEXT[:100])
    gateway.clock.move(timedelta(hours=23))
    assert (await look(gateway, path)).headers["upload-offset"] == "100"
    clearing = upload_clearing(gateway.parts.database, gateway.parts.store, gateway.parts.files, gateway.clock)
    await clearing.sweep()
    assert await rows(gateway) == (1, 1)

    gateway.clock.move(timedelta(hours=1))
    assert (await look(gateway, path)).status_code == 404
    await clearing.sweep()

    assert stored_objects(gateway) == 0
    assert await rows(gateway) == (0, 0)


@pytest.mark.parametrize("is_checked", [False, True])
async def test_the_official_client_resumes_where_it_was_interrupted(gateway: Gateway, *, is_checked: bool) -> None:
    content = b"".join(b"At mile %07d the rails go on.\n" % mile for mile in range(10_000))

    def upload_some(address: str) -> str:
        client = TusClient(f"{address}{UPLOADS}", headers=gateway.headers())
        uploader = client.uploader(
            file_stream=io.BytesIO(content),
            chunk_size=50_000,
            metadata={"filename": "手册 🎈.txt"},
            upload_checksum=is_checked,
        )
        uploader.upload(stop_at=150_000)
        return str(uploader.url)

    def upload_the_rest(url: str) -> None:
        client = TusClient("http://unused", headers=gateway.headers())
        uploader = client.uploader(
            file_stream=io.BytesIO(content), url=url, chunk_size=50_000, upload_checksum=is_checked
        )
        assert uploader.offset == 150_000
        uploader.upload()

    async with served(gateway) as address:
        url = await asyncio.to_thread(upload_some, address)
        await asyncio.to_thread(upload_the_rest, url)

    resource_id = (await look(gateway, urlsplit(url).path)).headers["x-file-resource-id"]
    assert await content_of(gateway, resource_id) == content
    known = await gateway.http.get(f"/internal/v1/files/{resource_id}", headers=gateway.headers())
    assert known.json()["data"]["fileName"] == "手册 🎈.txt"
    assert stored_objects(gateway) == 1
