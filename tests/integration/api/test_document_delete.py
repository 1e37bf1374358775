"""Documents deleted over HTTP, on both databases: nobody sees them from the answer on, and nothing of them stays."""

from datetime import timedelta
from typing import Any

from sqlalchemy import Connection

from shared.contracts.documents import DocumentOperationAccepted
from shared.contracts.enums import FailureReason
from shared.contracts.envelope import Envelope
from shared.contracts.ids import SpaceId, TenantId
from shared.database.grants import delete_grants, list_grants
from shared.providers.ports import SpaceRef
from shared.providers.scripted.script import Script
from tests.integration.api.harness import BOB, Gateway, checked_error
from tests.integration.api.purging import run_purges

REASON = "It is out of date."


async def delete(gateway: Gateway, document_id: str, expected: int = 1, key: str | None = None) -> dict[str, Any]:
    body = {"expectedVersion": expected, "reason": REASON}
    answer = await gateway.post(f"/documents/{document_id}:delete", body, key=key)
    assert answer.status_code == 202, answer.text
    Envelope[DocumentOperationAccepted].model_validate_json(answer.content)
    data: dict[str, Any] = answer.json()["data"]
    return data


async def purge(gateway: Gateway) -> None:
    await run_purges(gateway.parts.database, gateway.provider, gateway.parts.store, gateway.parts.around)


async def at_provider(gateway: Gateway, space_id: str) -> list[str]:
    space = SpaceRef(space_id=SpaceId(space_id), profile=gateway.parts.profile, native_id=None)
    return [document.native_id for document in await gateway.provider.list_documents(space)]


async def objects(gateway: Gateway) -> list[str]:
    return [found.key async for found in gateway.parts.store.list()]


async def test_a_delete_is_taken_on_and_ends_with_nothing_left_anywhere(either: Gateway) -> None:
    space_id = await either.make_space()
    document_id = await either.make_document(space_id)
    assert (len(await at_provider(either, space_id)), len(await objects(either))) == (1, 1)

    accepted = await delete(either, document_id)

    assert accepted == {
        "documentId": document_id,
        "operationId": accepted["operationId"],
        "status": "RUNNING",
    }
    either.clock.move(timedelta(hours=25))  # the upload's own name has expired
    await purge(either)
    operation = (await either.get(f"/operations/{accepted['operationId']}")).json()["data"]
    assert (operation["operationType"], operation["status"]) == ("DOCUMENT_DELETE", "SUCCEEDED")
    assert await at_provider(either, space_id) == []
    assert await objects(either) == []


async def test_nobody_sees_a_document_from_the_moment_its_delete_is_answered(either: Gateway) -> None:
    space_id = await either.make_space()
    document_id = await either.make_document(space_id)
    hits = (await either.post("/search", {"query": "hotel night"})).json()["data"]["hits"]
    link = await either.post(f"/documents/{document_id}:create-download-link", {})
    download = str(link.json()["data"]["downloadUrl"]).removeprefix("http://localhost:8080")

    await delete(either, document_id)

    checked_error(await either.get(f"/documents/{document_id}"), 404, "DOCUMENT_NOT_FOUND")
    assert (await either.get(f"/spaces/{space_id}/documents")).json()["data"]["items"] == []
    found = (await either.post("/search", {"query": "hotel night"})).json()["data"]
    assert found["hits"] == []
    checked_error(
        await either.get(f"/citations/{hits[0]['citationId']}", contextBefore=0, contextAfter=0),
        404,
        "KNOWLEDGE_NOT_FOUND",
    )
    checked_error(await either.post(f"/documents/{document_id}:create-download-link", {}), 404, "DOCUMENT_NOT_FOUND")
    assert (await either.http.get(download)).status_code == 404
    checked_error(
        await either.post(f"/documents/{document_id}:delete", {"expectedVersion": 2, "reason": REASON}),
        404,
        "DOCUMENT_NOT_FOUND",
    )


async def test_a_document_whose_ingestion_failed_can_be_deleted(either: Gateway) -> None:
    space_id = await either.make_space()
    either.provider.tell("Travel.txt", Script(rejects=FailureReason.NO_TEXT))
    document_id = await either.make_document(space_id)
    detail = (await either.get(f"/documents/{document_id}")).json()["data"]
    assert detail["status"] == "CREATE_FAILED"

    await delete(either, document_id, expected=0)

    await purge(either)
    assert await at_provider(either, space_id) == []


async def test_a_delete_from_an_old_reading_is_a_conflict(either: Gateway) -> None:
    document_id = await either.make_document(await either.make_space())
    body = {"expectedVersion": 0, "reason": REASON}

    answer = await either.post(f"/documents/{document_id}:delete", body)

    checked_error(answer, 409, "DOCUMENT_VERSION_CONFLICT")
    checked_error(
        await either.post(f"/documents/{document_id}:delete", {"expectedVersion": 1}), 422, "KNOWLEDGE_INVALID_INPUT"
    )


async def test_a_delete_that_is_sent_again_repeats_its_answer_when_the_document_is_long_gone(either: Gateway) -> None:
    space_id = await either.make_space()
    document_id = await either.make_document(space_id)
    first = await delete(either, document_id, key="delete-1")
    await purge(either)

    assert await delete(either, document_id, key="delete-1") == first

    def forget(conn: Connection) -> None:
        delete_grants(conn, list_grants(conn, TenantId("acme"), SpaceId(space_id)))

    await either.parts.database.write(forget)
    body = {"expectedVersion": 1, "reason": REASON}
    checked_error(
        await either.post(f"/documents/{document_id}:delete", body, key="delete-1"), 404, "DOCUMENT_NOT_FOUND"
    )


async def test_a_delete_is_for_those_who_see_the_document(gateway: Gateway) -> None:
    document_id = await gateway.make_document(await gateway.make_space())
    body = {"expectedVersion": 1, "reason": REASON}

    checked_error(await gateway.post(f"/documents/{document_id}:delete", body, BOB), 404, "DOCUMENT_NOT_FOUND")
    checked_error(await gateway.post("/documents/doc_none:delete", body), 404, "DOCUMENT_NOT_FOUND")


async def test_the_space_of_deleted_documents_can_be_deleted(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    document_id = await gateway.make_document(space_id)
    await delete(gateway, document_id)
    body = {"expectedVersion": 1, "reason": REASON}
    checked_error(await gateway.post(f"/spaces/{space_id}:delete", body), 409, "SPACE_HAS_PENDING_OPERATIONS")

    await purge(gateway)

    assert (await gateway.post(f"/spaces/{space_id}:delete", body)).status_code == 202
