"""A document indexed anew, on both databases: another version of the same file, the old one serving until then."""

from datetime import timedelta
from typing import Any

from shared.contracts.catalogue import DispatchRoom
from shared.contracts.commands import ReindexVersion
from shared.contracts.documents import DocumentDetail
from shared.contracts.enums import FailureReason, Step
from shared.contracts.envelope import Envelope
from shared.lifecycle.purges import issue_purges, release_files
from shared.messaging.codec import read_command
from shared.providers.scripted.script import OBEDIENT, Script
from tests.integration.api.harness import Gateway, checked_error
from tests.integration.api.looking import moves
from tests.support.eventually import until


async def reindex(gateway: Gateway, document_id: str, expected: int, **more: object) -> Any:
    return await gateway.post(f"/documents/{document_id}:reindex", {"expectedVersion": expected, **more})


async def detail_of(gateway: Gateway, document_id: str) -> Any:
    answer = await gateway.get(f"/documents/{document_id}")
    Envelope[DocumentDetail].model_validate_json(answer.content)
    return answer.json()["data"]


async def found(gateway: Gateway) -> list[Any]:
    hits: list[Any] = (await gateway.post("/search", {"query": "hotel night"})).json()["data"]["hits"]
    return hits


async def test_the_old_version_serves_until_the_new_index_is_ready(either: Gateway) -> None:
    document_id = await either.make_document(await either.make_space())
    before = (await detail_of(either, document_id))["activeVersion"]
    (old_hit,) = await found(either)

    answer = await reindex(either, document_id, 1, reason="A better index.")

    assert answer.status_code == 202
    accepted = answer.json()["data"]
    assert accepted["documentId"] == document_id
    during = await detail_of(either, document_id)
    assert (during["activeVersion"], during["lockVersion"]) == (before, 2)
    candidate = during["candidateVersion"]
    assert (candidate["versionNo"], candidate["changeType"], candidate["status"]) == (2, "REINDEX", "CREATED")
    assert (candidate["fileName"], candidate["fileSize"]) == ("Travel.txt", 69)
    assert (await found(either))[0]["citationId"] == old_hit["citationId"]

    await either.work()

    after = await detail_of(either, document_id)
    assert (after["activeVersion"]["versionId"], after["candidateVersion"]) == (candidate["versionId"], None)
    assert (after["lockVersion"], after["searchable"]) == (3, True)
    (new_hit,) = await found(either)
    assert (new_hit["content"], new_hit["documentId"]) == (old_hit["content"], document_id)
    assert new_hit["citationId"] != old_hit["citationId"]
    checked_error(await either.get(f"/citations/{old_hit['citationId']}"), 404, "KNOWLEDGE_NOT_FOUND")
    operation = (await either.get(f"/operations/{accepted['operationId']}")).json()["data"]
    assert (operation["status"], operation["operationType"]) == ("SUCCEEDED", "DOCUMENT_REINDEX")
    told = await moves(either, accepted["operationId"])
    assert told == [("DOCUMENT_REINDEX", None, "PENDING", {"reason": "A better index."})]


async def test_the_command_names_the_file_and_no_provider_document(gateway: Gateway) -> None:
    document_id = await gateway.make_document(await gateway.make_space())
    gateway.parts.room.hear(DispatchRoom(room={Step.REINDEX: 1}))

    await reindex(gateway, document_id, 1)

    await until(lambda: len(gateway.broker.messages) == 1)
    message = gateway.broker.messages[0]
    command = read_command(message.body, message.headers)
    assert isinstance(command, ReindexVersion)
    assert (command.native_document_id, command.source.file_name) == (None, "Travel.txt")


async def test_the_file_outlives_the_version_that_brought_it(either: Gateway) -> None:
    document_id = await either.make_document(await either.make_space())
    await reindex(either, document_id, 1)
    await either.work()
    either.clock.move(timedelta(days=2))
    around = either.parts.around
    files = await either.parts.database.read(lambda conn: conn.exec_driver_sql("SELECT id FROM file").all())
    await either.parts.database.write(
        lambda conn: conn.exec_driver_sql("UPDATE document_version SET status = 'DELETED' WHERE number = 1")
    )

    freed = await either.parts.database.write(
        lambda conn: release_files(conn, [row[0] for row in files], around, around.clock())
    )

    assert (len(files), freed) == (1, 0)
    link = (await either.post(f"/documents/{document_id}:create-download-link", {})).json()["data"]["downloadUrl"]
    assert (await either.http.get(link.removeprefix("http://localhost:8080"))).status_code == 200


async def test_the_old_index_is_purged_after_the_new_one_serves(gateway: Gateway) -> None:
    document_id = await gateway.make_document(await gateway.make_space())
    await reindex(gateway, document_id, 1)
    around = gateway.parts.around
    gateway.clock.move(timedelta(hours=1))
    assert await gateway.parts.database.write(lambda conn: issue_purges(conn, around, limit=9)) == 0

    await gateway.work()
    gateway.clock.move(timedelta(hours=1))

    assert await gateway.parts.database.write(lambda conn: issue_purges(conn, around, limit=9)) == 1


async def test_a_failed_reindex_leaves_the_old_version_and_shows_what_failed(either: Gateway) -> None:
    document_id = await either.make_document(await either.make_space())
    before = (await detail_of(either, document_id))["activeVersion"]
    either.provider.tell("Travel.txt", Script(rejects=FailureReason.PARSER_CRASHED))
    assert (await reindex(either, document_id, 1)).status_code == 202

    await either.work()

    detail = await detail_of(either, document_id)
    assert (detail["activeVersion"], detail["status"], detail["searchable"]) == (before, "ACTIVE", True)
    candidate = detail["candidateVersion"]
    assert (candidate["changeType"], candidate["status"]) == ("REINDEX", "FAILED")
    assert candidate["error"]["code"] == "PARSER_CRASHED"
    assert len(await found(either)) == 1

    either.provider.tell("Travel.txt", OBEDIENT)
    assert (await reindex(either, document_id, 2)).status_code == 202
    await either.work()
    detail = await detail_of(either, document_id)
    assert (detail["activeVersion"]["versionNo"], detail["candidateVersion"]) == (3, None)


async def test_a_second_change_waits_for_the_reindex(gateway: Gateway) -> None:
    document_id = await gateway.make_document(await gateway.make_space())
    await reindex(gateway, document_id, 1)
    file = (await gateway.upload("new.txt", b"new")).json()["data"]["fileResourceId"]

    checked_error(await reindex(gateway, document_id, 2), 409, "KNOWLEDGE_OPERATION_PENDING")
    body = {"fileResourceId": file, "expectedVersion": 2}
    checked_error(await gateway.post(f"/documents/{document_id}:replace", body), 409, "KNOWLEDGE_OPERATION_PENDING")
    renamed = await gateway.post(f"/documents/{document_id}", {"name": "N", "expectedVersion": 2}, method="PATCH")
    assert renamed.status_code == 200
    await gateway.work()
    detail = await detail_of(gateway, document_id)
    assert (detail["name"], detail["activeVersion"]["versionNo"], detail["lockVersion"]) == ("N", 2, 4)


async def test_a_document_without_an_active_version_is_not_reindexed(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    gateway.provider.tell("New.txt", Script(rejects=FailureReason.FILE_CORRUPT))
    document_id = (await gateway.accept_document(space_id, "New"))["documentId"]
    checked_error(await reindex(gateway, document_id, 0), 409, "KNOWLEDGE_OPERATION_PENDING")
    await gateway.work()

    checked_error(await reindex(gateway, document_id, 0), 409, "KNOWLEDGE_CONFLICT")


async def test_a_reindex_from_an_old_reading_is_refused(gateway: Gateway) -> None:
    document_id = await gateway.make_document(await gateway.make_space())

    checked_error(await reindex(gateway, document_id, 0), 409, "DOCUMENT_VERSION_CONFLICT")


async def test_a_disabled_document_is_reindexed_and_stays_disabled(gateway: Gateway) -> None:
    document_id = await gateway.make_document(await gateway.make_space())
    await gateway.post(f"/documents/{document_id}:disable", {"expectedVersion": 1})
    assert (await reindex(gateway, document_id, 2)).status_code == 202
    await gateway.work()

    detail = await detail_of(gateway, document_id)
    assert (detail["status"], detail["activeVersion"]["versionNo"], detail["searchable"]) == ("DISABLED", 2, False)
