"""One policy for duplicates: names and contents may repeat, every document is its own, and what is there is told."""

import asyncio

import pytest
from sqlalchemy import Connection

from shared.database.sql import run
from tests.integration.api.harness import ALICE, BOB, Gateway
from tests.integration.api.uploading import stored_objects

OLD, NEW = b"The night train leaves at ten.", b"The night train leaves at eleven."


@pytest.mark.parametrize("name", ["train.txt", "timetable.txt"], ids=["same-name", "other-name"])
@pytest.mark.parametrize("content", [OLD, NEW], ids=["same-content", "other-content"])
async def test_every_upload_makes_a_document_of_its_own_and_is_told_what_is_there(
    gateway: Gateway, name: str, content: bytes
) -> None:
    space_id = await gateway.make_space()
    first = await gateway.make_document(space_id, "train", OLD)

    file = (await gateway.upload(name, content)).json()["data"]
    body = {"fileResourceId": file["fileResourceId"], "documentName": "train"}
    accepted = await gateway.post(f"/spaces/{space_id}/documents", body)

    is_same = content == OLD
    assert (file["deduplicated"], file["documents"]) == (is_same, [first] if is_same else [])
    assert file["fileName"] == name
    assert accepted.status_code == 202
    assert accepted.json()["data"]["documentId"] != first
    await gateway.work()
    listed = (await gateway.get(f"/spaces/{space_id}/documents")).json()["data"]["items"]
    assert [(document["name"], document["status"]) for document in listed] == [("train", "ACTIVE")] * 2


async def test_a_document_names_its_content_while_it_is_on_its_way_and_not_when_it_is_replaced(
    gateway: Gateway,
) -> None:
    space_id = await gateway.make_space()
    accepted = await gateway.accept_document(space_id, "train", OLD)
    assert (await gateway.upload("copy.txt", OLD)).json()["data"]["documents"] == [accepted["documentId"]]
    await gateway.work()

    new = (await gateway.upload("new.txt", NEW)).json()["data"]["fileResourceId"]
    path = f"/documents/{accepted['documentId']}"
    version = (await gateway.get(path)).json()["data"]["lockVersion"]
    await gateway.post(f"{path}:replace", {"fileResourceId": new, "expectedVersion": version})
    assert (await gateway.upload("both.txt", OLD)).json()["data"]["documents"] == [accepted["documentId"]]
    await gateway.work()

    assert (await gateway.upload("copy.txt", OLD)).json()["data"]["documents"] == []
    assert (await gateway.upload("copy.txt", NEW)).json()["data"]["documents"] == [accepted["documentId"]]


async def test_documents_that_the_caller_may_not_see_are_not_named(gateway: Gateway) -> None:
    hers = await gateway.make_document(await gateway.make_space("hers"), "train", OLD)
    his = await gateway.make_document(await gateway.make_space("his", BOB), "train", OLD, BOB)

    for user, document_id in ((ALICE, hers), (BOB, his)):
        assert (await gateway.upload("copy.txt", OLD, user)).json()["data"]["documents"] == [document_id]


async def test_no_more_than_twenty_documents_are_named(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    first = [(await gateway.accept_document(space_id, f"{n}", OLD))["documentId"] for n in range(22)]

    assert (await gateway.upload("copy.txt", OLD)).json()["data"]["documents"] == first[:20]


async def test_the_same_bytes_at_once_are_one_file_and_one_object(either: Gateway) -> None:
    answers = await asyncio.gather(*(either.upload(f"{number}.txt", OLD) for number in range(6)))

    files = [answer.json()["data"] for answer in answers]
    assert sorted(file["deduplicated"] for file in files) == [False, True, True, True, True, True]
    assert len({file["fileResourceId"] for file in files}) == 6

    def live(conn: Connection) -> int:
        return int(run(conn, "SELECT count(*) FROM file WHERE status = 'LIVE'").scalar_one())

    assert await either.parts.database.read(live) == 1
    assert stored_objects(either) == 1


async def test_on_both_databases_the_answer_names_the_document(either: Gateway) -> None:
    document_id = await either.make_document(await either.make_space(), "train", OLD)

    file = (await either.upload("copy.txt", OLD)).json()["data"]

    assert file["documents"] == [document_id]
    shown = await either.http.get(f"/internal/v1/files/{file['fileResourceId']}", headers=either.headers())
    assert shown.json()["data"] == file


async def test_a_resumable_upload_of_the_same_bytes_is_a_twin_too(either: Gateway) -> None:
    await either.make_document(await either.make_space(), "train", OLD)
    headers = either.headers(
        tus_resumable="1.0.0",
        upload_length=str(len(OLD)),
        upload_metadata="filename YS50eHQ=",
        content_type="application/offset+octet-stream",
    )

    answers = await asyncio.gather(
        *(either.http.post("/internal/v1/uploads", headers=headers, content=OLD) for _ in range(3))
    )

    assert [(answer.status_code, answer.headers["x-file-deduplicated"]) for answer in answers] == [(201, "true")] * 3
    assert len({answer.headers["x-file-resource-id"] for answer in answers}) == 3
    assert stored_objects(either) == 1
