"""Resumable uploads over HTTP, method by method, and with the official client of the protocol."""

import asyncio
import base64
import hashlib
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn
from sqlalchemy import Connection
from starlette.types import Message
from tusclient.client import TusClient

from services.api.uploads.assembly import upload_clearing
from shared.contracts.ids import FileResourceId, SubjectId, TenantId, UploadId
from shared.database.files import load_resource
from shared.database.sql import run
from shared.database.uploads import UploadPart, load_upload
from shared.lifecycle.resumable_upload import extend_upload
from tests.integration.api.harness import ALICE, BOB, FOREIGNER, READER, Gateway, User, checked_error, free_port
from tests.support.eventually import until
from tests.support.streams import collect, stream

UPLOADS = "/internal/v1/uploads"
BYTES = "application/offset+octet-stream"
TEXT = b"The night train leaves at ten. " * 40


def stored_objects(gateway: Gateway) -> int:
    return sum(1 for path in gateway.objects.rglob("*") if path.is_file())


def metadata(name: str) -> str:
    return f"filetype dGV4dA==,filename {base64.b64encode(name.encode()).decode()}"


async def begin(
    gateway: Gateway, name: str = "train.txt", length: int = len(TEXT), user: User = ALICE, /, **changed: str | None
) -> httpx.Response:
    headers = {"tus_resumable": "1.0.0", "upload_length": str(length), "upload_metadata": metadata(name)}
    return await gateway.http.post(UPLOADS, headers=gateway.headers(user, **{**headers, **changed}))


async def begun(gateway: Gateway, name: str = "train.txt", length: int = len(TEXT)) -> str:
    answer = await begin(gateway, name, length)
    assert answer.status_code == 201, answer.text
    return answer.headers["location"]


async def send(
    gateway: Gateway,
    path: str,
    offset: int,
    content: bytes | AsyncIterator[bytes],
    user: User = ALICE,
    /,
    **changed: str,
) -> httpx.Response:
    headers = {"tus_resumable": "1.0.0", "upload_offset": str(offset), "content_type": BYTES, **changed}
    return await gateway.http.patch(path, headers=gateway.headers(user, **headers), content=content)


async def look(gateway: Gateway, path: str, user: User = ALICE) -> httpx.Response:
    return await gateway.http.head(path, headers=gateway.headers(user, tus_resumable="1.0.0"))


async def end(gateway: Gateway, path: str, user: User = ALICE) -> httpx.Response:
    return await gateway.http.delete(path, headers=gateway.headers(user, tus_resumable="1.0.0"))


async def content_of(gateway: Gateway, resource_id: str) -> bytes:
    def find(conn: Connection) -> str:
        found = load_resource(conn, TenantId("acme"), SubjectId("alice"), FileResourceId(resource_id), gateway.clock())
        assert found is not None
        return found[1].object_key

    key = await gateway.parts.database.write(find)
    return await collect(gateway.parts.store.get_stream(key))


async def rows(gateway: Gateway) -> tuple[int, int]:
    """How many uploads and parts there are."""
    return await gateway.parts.database.read(
        lambda conn: (
            run(conn, "SELECT count(*) FROM upload").scalar_one(),
            run(conn, "SELECT count(*) FROM upload_part").scalar_one(),
        )
    )


async def test_anybody_may_ask_what_there_is(gateway: Gateway) -> None:
    answer = await gateway.http.options(UPLOADS)

    assert answer.status_code == 204
    assert answer.headers["tus-version"] == "1.0.0"
    assert answer.headers["tus-max-size"] == "1000000"
    assert answer.headers["tus-extension"] == "creation,creation-with-upload,termination,expiration,checksum"
    assert answer.headers["tus-checksum-algorithm"] == "sha256,sha1"


async def test_a_file_comes_in_pieces_and_becomes_one_resource(gateway: Gateway) -> None:
    path = await begun(gateway)
    first = await send(gateway, path, 0, TEXT[:500])
    assert (first.status_code, first.headers["upload-offset"]) == (204, "500")
    assert "x-file-resource-id" not in first.headers

    between = await look(gateway, path)
    assert (between.status_code, between.headers["upload-offset"]) == (200, "500")
    assert between.headers["upload-length"] == str(len(TEXT))
    assert between.headers["upload-metadata"] == "filename dHJhaW4udHh0"
    assert between.headers["upload-expires"] == "Wed, 07 May 2031 07:08:09 GMT"
    assert between.headers["cache-control"] == "no-store"

    last = await send(gateway, path, 500, TEXT[500:])
    assert (last.status_code, last.headers["upload-offset"]) == (204, str(len(TEXT)))
    assert last.headers["tus-resumable"] == "1.0.0"
    assert last.headers["x-file-deduplicated"] == "false"
    resource_id = last.headers["x-file-resource-id"]

    assert await content_of(gateway, resource_id) == TEXT
    assert (await look(gateway, path)).headers["x-file-resource-id"] == resource_id
    assert stored_objects(gateway) == 1
    assert await rows(gateway) == (1, 0)
    known = await gateway.http.get(f"/internal/v1/files/{resource_id}", headers=gateway.headers())
    assert known.json()["data"] == {
        "fileResourceId": resource_id,
        "fileName": "train.txt",
        "mimeType": "text/plain",
        "fileSize": len(TEXT),
        "sha256": hashlib.sha256(TEXT).hexdigest(),
        "expiresAt": "2031-05-07T07:08:09.000Z",
        "deduplicated": False,
        "documents": [],
    }


async def test_what_was_sent_with_the_beginning_is_taken(gateway: Gateway) -> None:
    headers = gateway.headers(
        tus_resumable="1.0.0", upload_length=str(len(TEXT)), upload_metadata=metadata("a.txt"), content_type=BYTES
    )
    part = await gateway.http.post(UPLOADS, headers=headers, content=TEXT[:10])
    whole = await gateway.http.post(UPLOADS, headers=headers, content=TEXT)

    assert (part.status_code, part.headers["upload-offset"]) == (201, "10")
    assert (whole.status_code, whole.headers["upload-offset"]) == (201, str(len(TEXT)))
    assert await content_of(gateway, whole.headers["x-file-resource-id"]) == TEXT


async def test_a_file_made_of_an_upload_becomes_a_document(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    resource_id = (await send(gateway, await begun(gateway), 0, TEXT)).headers["x-file-resource-id"]

    accepted = await gateway.post(
        f"/spaces/{space_id}/documents", {"fileResourceId": resource_id, "documentName": "Train"}
    )

    assert accepted.status_code == 202
    await gateway.work()
    document = (await gateway.get(f"/documents/{accepted.json()['data']['documentId']}")).json()["data"]
    assert (document["status"], document["activeVersion"]["fileName"]) == ("ACTIVE", "train.txt")


async def test_the_same_bytes_again_are_kept_once(gateway: Gateway) -> None:
    await gateway.upload("plain.txt", TEXT)

    answer = await send(gateway, await begun(gateway), 0, TEXT)

    assert answer.headers["x-file-deduplicated"] == "true"
    assert stored_objects(gateway) == 1


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

    headers = gateway.headers(tus_resumable="1.0.0", upload_offset="0", content_type=BYTES)
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


async def whole_but_unfinished(gateway: Gateway) -> str:
    """An upload as a process leaves it that is killed after the last byte was stored."""
    path = await begun(gateway)
    upload_id = UploadId(path.rpartition("/")[2])
    await gateway.parts.store.put_stream("objects/00/left-behind", stream(TEXT), limit=len(TEXT))
    part = UploadPart(upload_id=upload_id, starts_at=0, size=len(TEXT), object_key="objects/00/left-behind")

    def leave(conn: Connection) -> None:
        upload = load_upload(conn, TenantId("acme"), SubjectId("alice"), upload_id, gateway.clock())
        assert upload is not None
        extend_upload(conn, upload, [part], timedelta(hours=1), gateway.parts.around)

    await gateway.parts.database.write(leave)
    return path


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


async def test_a_checksum_that_is_wrong_keeps_nothing(gateway: Gateway) -> None:
    path = await begun(gateway)
    wrong = base64.b64encode(hashlib.sha256(b"other").digest()).decode()
    right = base64.b64encode(hashlib.sha256(TEXT).digest()).decode()

    refused = await send(gateway, path, 0, TEXT, upload_checksum=f"sha256 {wrong}")
    assert (refused.status_code, refused.headers["x-error-code"]) == (460, "KNOWLEDGE_INVALID_INPUT")
    assert (await look(gateway, path)).headers["upload-offset"] == "0"
    assert stored_objects(gateway) == 0

    taken = await send(gateway, path, 0, TEXT, upload_checksum=f"sha256 {right}")
    assert await content_of(gateway, taken.headers["x-file-resource-id"]) == TEXT


@pytest.mark.parametrize(
    ("name", "content", "status", "code"),
    [
        ("report.pdf", b"MZ\x90\x00\x03\x00\x00\x00\x04\x00" + bytes(200), 415, "FILE_TYPE_NOT_ALLOWED"),
        ("blank.txt", b" \n\t" * 5, 422, "KNOWLEDGE_INVALID_INPUT"),
    ],
)
async def test_a_file_that_is_refused_ends_its_upload_and_nothing_is_kept(
    gateway: Gateway, name: str, content: bytes, status: int, code: str
) -> None:
    path = await begun(gateway, name, len(content))

    answer = await send(gateway, path, 0, content)

    assert (answer.status_code, answer.headers["x-error-code"]) == (status, code)
    assert answer.text.startswith("The ")
    assert stored_objects(gateway) == 0
    assert await rows(gateway) == (0, 0)
    assert (await look(gateway, path)).status_code == 404


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"upload_length": "0"}, 422),
        ({"upload_length": None}, 422),
        ({"upload_length": "1000001"}, 413),
        ({"upload_length": None, "upload_defer_length": "1"}, 422),
        ({"upload_concat": "partial"}, 422),
        ({"upload_metadata": None}, 422),
        ({"upload_metadata": "filename Li4="}, 422),
        ({"tus_resumable": None}, 412),
        ({"tus_resumable": "0.2.2"}, 412),
        ({"authorization": None}, 401),
        ({"x_user_assertion": "forged"}, 401),
    ],
)
async def test_a_beginning_that_is_not_right_begins_nothing(
    gateway: Gateway, changed: dict[str, str | None], status: int
) -> None:
    answer = await begin(gateway, "a.txt", 5, ALICE, **changed)

    assert answer.status_code == status
    assert answer.headers["tus-version"] == "1.0.0"
    assert answer.headers["x-error-code"]
    assert "www-authenticate" not in answer.headers
    assert await rows(gateway) == (0, 0)


async def test_more_than_was_announced_is_refused(gateway: Gateway) -> None:
    async def longer() -> AsyncIterator[bytes]:
        yield TEXT
        yield b"!"

    path = await begun(gateway)

    assert (await send(gateway, path, 0, TEXT + b"!")).status_code == 413
    assert (await send(gateway, path, 0, longer())).status_code == 413
    assert (await look(gateway, path)).headers["upload-offset"] == "0"
    assert stored_objects(gateway) == 0


async def test_bytes_that_are_called_something_else_are_not_taken(gateway: Gateway) -> None:
    answer = await send(gateway, await begun(gateway), 0, TEXT, content_type="application/octet-stream")

    assert answer.status_code == 415
    assert answer.text == (
        "The body is not of the media type that is taken here.\nContent-Type: Must be application/offset+octet-stream\n"
    )


@pytest.mark.parametrize("user", [BOB, FOREIGNER])
async def test_an_upload_is_there_for_nobody_else(gateway: Gateway, user: User) -> None:
    path = await begun(gateway)
    unknown = await look(gateway, f"{UPLOADS}/upl_unknown")

    answers = [
        await look(gateway, path, user),
        await send(gateway, path, 0, TEXT, user),
        await end(gateway, path, user),
    ]

    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert unknown.status_code == 404
    assert answers[0].headers["x-error-code"] == unknown.headers["x-error-code"] == "KNOWLEDGE_NOT_FOUND"
    assert (await look(gateway, path)).headers["upload-offset"] == "0"


async def test_who_may_not_upload_files_may_not_resume_them_either(gateway: Gateway) -> None:
    path = await begun(gateway)

    assert (await begin(gateway, "a.txt", 5, READER)).status_code == 403
    assert (await look(gateway, path, READER)).status_code == 403


async def test_a_file_is_shown_to_nobody_else(gateway: Gateway) -> None:
    resource_id = (await send(gateway, await begun(gateway), 0, TEXT)).headers["x-file-resource-id"]

    for user in (BOB, FOREIGNER):
        answer = await gateway.http.get(f"/internal/v1/files/{resource_id}", headers=gateway.headers(user))
        checked_error(answer, 404, "FILE_NOT_FOUND")


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


async def test_a_method_may_come_in_a_header(gateway: Gateway) -> None:
    path = await begun(gateway)
    headers = gateway.headers(
        tus_resumable="1.0.0", upload_offset="0", content_type=BYTES, x_http_method_override="PATCH"
    )

    answer = await gateway.http.post(path, headers=headers, content=TEXT)

    assert (answer.status_code, answer.headers["upload-offset"]) == (204, str(len(TEXT)))


async def test_a_method_that_is_not_there_is_told_which_are(gateway: Gateway) -> None:
    path = await begun(gateway)

    answer = await gateway.http.put(path, headers=gateway.headers(tus_resumable="1.0.0"))

    assert (answer.status_code, answer.headers["allow"]) == (405, "HEAD, PATCH, DELETE")


@asynccontextmanager
async def served(gateway: Gateway) -> AsyncIterator[str]:
    """The api at a real address."""
    port = free_port()
    config = uvicorn.Config(gateway.app, port=port, http="httptools", lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await serving


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
