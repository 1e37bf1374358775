"""Resumable uploads over HTTP, method by method."""

import base64
import hashlib
from collections.abc import AsyncIterator

import pytest

from shared.contracts.uploads import OFFSET_BYTES, UPLOADS
from tests.integration.api.harness import ALICE, BOB, FOREIGNER, READER, Gateway, User, checked_error
from tests.integration.api.uploading import (
    TEXT,
    begin,
    begun,
    content_of,
    end,
    look,
    metadata,
    rows,
    send,
    stored_objects,
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
        tus_resumable="1.0.0",
        upload_length=str(len(TEXT)),
        upload_metadata=metadata("a.txt"),
        content_type=OFFSET_BYTES,
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


async def test_an_id_that_no_upload_can_have_is_that_of_an_unknown_upload(gateway: Gateway) -> None:
    answers = [await send(gateway, f"{UPLOADS}/{segment}", 0, TEXT) for segment in ("upl_none", "%00", "%FF")]

    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert {answer.text for answer in answers} == {"There is no such upload, or it has expired. Begin a new one.\n"}


async def test_who_may_not_upload_files_may_not_resume_them_either(gateway: Gateway) -> None:
    path = await begun(gateway)

    assert (await begin(gateway, "a.txt", 5, READER)).status_code == 403
    assert (await look(gateway, path, READER)).status_code == 403


async def test_a_file_is_shown_to_nobody_else(gateway: Gateway) -> None:
    resource_id = (await send(gateway, await begun(gateway), 0, TEXT)).headers["x-file-resource-id"]

    for user in (BOB, FOREIGNER):
        answer = await gateway.http.get(f"/internal/v1/files/{resource_id}", headers=gateway.headers(user))
        checked_error(answer, 404, "FILE_NOT_FOUND")


async def test_a_method_may_come_in_a_header(gateway: Gateway) -> None:
    path = await begun(gateway)
    headers = gateway.headers(
        tus_resumable="1.0.0", upload_offset="0", content_type=OFFSET_BYTES, x_http_method_override="PATCH"
    )

    answer = await gateway.http.post(path, headers=headers, content=TEXT)

    assert (answer.status_code, answer.headers["upload-offset"]) == (204, str(len(TEXT)))


async def test_a_method_that_is_not_there_is_told_which_are(gateway: Gateway) -> None:
    path = await begun(gateway)

    answer = await gateway.http.put(path, headers=gateway.headers(tus_resumable="1.0.0"))

    assert (answer.status_code, answer.headers["allow"]) == (405, "HEAD, PATCH, DELETE")
