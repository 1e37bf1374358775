"""Download links: a minute, one version, and only while their bearer may have it."""

import zlib
from datetime import timedelta
from typing import cast

import httpx
import pytest
from sqlalchemy import Connection

from shared.auth.sealing import SealKind
from shared.contracts.envelope import Envelope
from shared.contracts.ids import SpaceId, TenantId
from shared.contracts.retrieval import DownloadLink
from shared.database.grants import delete_grants, list_grants
from tests.integration.api.harness import ALICE, BOB, TRAVEL, Gateway, checked_error

DEAD_LINK = "This link is not valid, or not any more. Ask for a new one.\n"


async def make_link(gateway: Gateway, document_id: str) -> str:
    answer = await gateway.post(f"/documents/{document_id}:create-download-link", {})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["data"]["downloadUrl"]).removeprefix("http://localhost:8080")


async def make_one(gateway: Gateway) -> str:
    return await make_link(gateway, await gateway.make_document(await gateway.make_space()))


def assert_dead(answer: httpx.Response) -> None:
    assert (answer.status_code, answer.text) == (404, DEAD_LINK)


async def test_a_link_is_good_for_a_minute_and_names_the_active_version(gateway: Gateway) -> None:
    document_id = await gateway.make_document(await gateway.make_space())

    answer = await gateway.post(f"/documents/{document_id}:create-download-link", {})

    Envelope[DownloadLink].model_validate_json(answer.content)
    data = answer.json()["data"]
    assert data.pop("versionId").startswith("ver_")
    assert data.pop("downloadUrl").startswith("http://localhost:8080/downloads/")
    assert data == {
        "documentId": document_id,
        "fileName": "Travel.txt",
        "mimeType": "text/plain",
        "fileSize": 69,
        "expiresAt": "2031-05-06T07:09:09.000Z",
        "expiresInSeconds": 60,
    }


async def test_a_link_fetches_the_file_without_any_credentials(gateway: Gateway) -> None:
    path = await make_one(gateway)

    answer = await gateway.http.get(path)

    assert answer.status_code == 200
    assert answer.content == TRAVEL
    headers = dict(answer.headers)
    assert headers.pop("x-request-id").startswith("req_")
    assert headers.pop("etag").startswith('"')
    assert headers == {
        "content-type": "text/plain",
        "content-length": "69",
        "content-disposition": "attachment; filename=\"Travel.txt\"; filename*=UTF-8''Travel.txt",
        "accept-ranges": "bytes",
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
    }


async def test_a_name_that_is_not_ascii_is_offered_in_both_forms(gateway: Gateway) -> None:
    path = await make_link(gateway, await gateway.make_document(await gateway.make_space(), "差旅 €"))

    disposition = (await gateway.http.get(path)).headers["content-disposition"]

    assert disposition == "attachment; filename=\"__ _.txt\"; filename*=UTF-8''%E5%B7%AE%E6%97%85%20%E2%82%AC.txt"


@pytest.mark.parametrize(
    ("wanted", "content_range", "content"),
    [
        ("bytes=0-5", "bytes 0-5/69", b"Trains"),
        ("bytes=63-", "bytes 63-68/69", b"most."),
        ("bytes=-5", "bytes 64-68/69", b"most."),
        ("bytes=0-1000", "bytes 0-68/69", TRAVEL),
        ("bytes=-1000", "bytes 0-68/69", TRAVEL),
    ],
)
async def test_a_part_of_the_file_may_be_fetched(
    gateway: Gateway, wanted: str, content_range: str, content: bytes
) -> None:
    answer = await gateway.http.get(await make_one(gateway), headers={"range": wanted})

    assert answer.status_code == 206
    assert answer.headers["content-range"] == content_range
    assert answer.headers["content-length"] == str(len(answer.content))
    assert answer.content.endswith(content)


@pytest.mark.parametrize("wanted", ["bytes=69-", "bytes=-0", "bytes=100-200"])
async def test_a_part_outside_of_the_file_is_a_416(gateway: Gateway, wanted: str) -> None:
    answer = await gateway.http.get(await make_one(gateway), headers={"range": wanted})

    assert answer.status_code == 416
    assert answer.headers["content-range"] == "bytes */69"


@pytest.mark.parametrize("wanted", ["bytes=0-1,3-4", "lines=1-2", "bytes=5-2", "bytes=-", "bytes=a-b"])
async def test_a_range_that_is_none_brings_the_whole_file(gateway: Gateway, wanted: str) -> None:
    answer = await gateway.http.get(await make_one(gateway), headers={"range": wanted})

    assert (answer.status_code, answer.content) == (200, TRAVEL)


async def test_a_range_of_another_state_of_the_file_brings_the_whole_file(gateway: Gateway) -> None:
    path = await make_one(gateway)
    etag = (await gateway.http.get(path)).headers["etag"]

    same = await gateway.http.get(path, headers={"range": "bytes=0-1", "if-range": etag})
    other = await gateway.http.get(path, headers={"range": "bytes=0-1", "if-range": '"other"'})

    assert (same.status_code, other.status_code) == (206, 200)


async def test_a_head_tells_what_a_get_would_bring(gateway: Gateway) -> None:
    answer = await gateway.http.head(await make_one(gateway))

    assert answer.status_code == 200
    assert answer.headers["content-length"] == "69"
    assert answer.content == b""


async def test_another_method_is_refused(gateway: Gateway) -> None:
    answer = await gateway.http.post(await make_one(gateway))

    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"


async def test_a_link_dies_after_a_minute(gateway: Gateway) -> None:
    path = await make_one(gateway)
    gateway.clock.move(timedelta(seconds=59))
    assert (await gateway.http.get(path)).status_code == 200

    gateway.clock.move(timedelta(seconds=1))

    assert_dead(await gateway.http.get(path))


async def test_a_link_that_was_changed_is_dead(gateway: Gateway) -> None:
    path = await make_one(gateway)

    assert_dead(await gateway.http.get(path[:-1] + ("A" if path[-1] != "A" else "B")))
    assert_dead(await gateway.http.get("/downloads/nonsense"))
    assert_dead(await gateway.http.get("/downloads/%00"))


async def test_a_link_in_a_format_that_is_read_no_more_is_dead(gateway: Gateway) -> None:
    content = zlib.compress(b'["acme","alice","session-1","harness","doc_1","ver_1","2031-05-06T07:09:09+00:00"]')
    token = gateway.parts.sealer.seal(cast("SealKind", 2), content, b"download")

    assert_dead(await gateway.http.get(f"/downloads/{token}"))


async def test_a_citation_is_no_link(gateway: Gateway) -> None:
    await gateway.make_document(await gateway.make_space())
    hits = (await gateway.post("/search", {"query": "hotel night"})).json()["data"]["hits"]

    assert_dead(await gateway.http.get(f"/downloads/{hits[0]['citationId']}"))


async def test_a_link_dies_when_the_grant_is_taken_back(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    path = await make_link(gateway, await gateway.make_document(space_id))

    def revoke(conn: Connection) -> None:
        delete_grants(conn, list_grants(conn, TenantId(ALICE.tenant), SpaceId(space_id)))

    await gateway.parts.database.write(revoke)

    assert_dead(await gateway.http.get(path))


async def test_a_link_dies_when_another_version_serves(gateway: Gateway) -> None:
    document_id = await gateway.make_document(await gateway.make_space())
    path = await make_link(gateway, document_id)
    file = (await gateway.upload("new.txt", b"Planes go first.")).json()["data"]["fileResourceId"]
    await gateway.post(f"/documents/{document_id}:replace", {"fileResourceId": file, "expectedVersion": 1})
    assert (await gateway.http.get(path)).content == TRAVEL

    await gateway.work()

    assert_dead(await gateway.http.get(path))
    assert (await gateway.http.get(await make_link(gateway, document_id))).content == b"Planes go first."


async def test_nobody_gets_a_link_to_what_they_may_not_see(gateway: Gateway) -> None:
    document_id = await gateway.make_document(await gateway.make_space())

    answer = await gateway.post(f"/documents/{document_id}:create-download-link", {}, BOB)

    checked_error(answer, 404, "DOCUMENT_NOT_FOUND")


async def test_a_document_without_an_active_version_has_no_link(gateway: Gateway) -> None:
    accepted = await gateway.accept_document(await gateway.make_space())

    answer = await gateway.post(f"/documents/{accepted['documentId']}:create-download-link", {})

    checked_error(answer, 409, "DOCUMENT_NOT_READY")


async def test_the_body_of_a_link_must_be_empty(gateway: Gateway) -> None:
    answer = await gateway.post("/documents/doc_1:create-download-link", {"seconds": 3600})

    checked_error(answer, 422, "KNOWLEDGE_INVALID_INPUT")


async def test_a_link_needs_no_idempotency_key(gateway: Gateway) -> None:
    document_id = await gateway.make_document(await gateway.make_space())
    path = f"/internal/v1/knowledge/documents/{document_id}:create-download-link"

    assert (await gateway.http.post(path, headers=gateway.headers(), json={})).status_code == 200


async def test_a_file_that_is_gone_is_a_dead_link_and_not_half_an_answer(gateway: Gateway) -> None:
    path = await make_one(gateway)
    for stored in [found for found in gateway.objects.rglob("*") if found.is_file()]:
        stored.unlink()

    assert_dead(await gateway.http.get(path))
