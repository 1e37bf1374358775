"""Spaces renamed, disabled and deleted, on both databases."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection

from shared.contracts.enums import DocumentStatus, OperationStatus, SpaceStatus
from shared.contracts.envelope import Envelope
from shared.contracts.ids import SpaceId, SubjectId, TenantId
from shared.contracts.spaces import SpaceOperationAccepted, SpaceUpdated
from shared.database.documents import load_documents, save_documents
from shared.database.grants import delete_grants, list_grants
from shared.database.operations import find_running, save_operations
from shared.database.spaces import load_spaces, save_spaces
from shared.database.sql import run
from shared.domain.authorization import DEFAULT_ROLES
from shared.domain.errors import Conflict, Forbidden, SpaceNotFound
from shared.domain.identity import Caller
from shared.domain.space import Space
from shared.lifecycle.request import Request
from shared.lifecycle.switch_space import switch_space
from tests.integration.api.harness import ALICE, BOB, READER, Gateway, checked_error, space_request
from tests.integration.api.looking import moves

MANAGER = Caller(
    tenant=TenantId("acme"),
    subject=SubjectId("mona"),
    roles=("gateway-admin",),
    domains=("general",),
    session_id="s",
    service="console",
)


async def switch(gateway: Gateway, space_id: str, *, enabled: bool, caller: Caller = MANAGER) -> Space:
    request = Request(
        caller=caller,
        roles=DEFAULT_ROLES,
        traceparent="00-" + "1" * 32 + "-" + "2" * 16 + "-01",
        request_id="r",
        tool_call_id="t",
    )
    around = gateway.parts.around
    settled = await gateway.parts.database.write(
        lambda conn: switch_space(
            conn, SpaceId(space_id), enabled=enabled, reason="A pause.", request=request, around=around
        )
    )
    return settled.space


async def turn(gateway: Gateway, space_id: str, status: SpaceStatus) -> None:
    """Put the space into a status, as events of workers would."""

    def put(conn: Connection) -> None:
        space = load_spaces(conn, {space_id})[space_id]
        save_spaces(conn, [replace(space, status=status)])
        running = find_running(conn, space_id=space.id)
        save_operations(conn, [operation.ended(OperationStatus.FAILED, space.updated_at) for operation in running])

    await gateway.parts.database.write(put)


async def rename(gateway: Gateway, space_id: str, name: str, expected: int = 1) -> Any:
    return await gateway.post(f"/spaces/{space_id}", {"name": name, "expectedVersion": expected}, method="PATCH")


async def delete(gateway: Gateway, space_id: str, expected: int = 1) -> Any:
    return await gateway.post(f"/spaces/{space_id}:delete", {"expectedVersion": expected, "reason": "Not needed."})


async def hide_documents(gateway: Gateway, space_id: str, status: DocumentStatus) -> None:
    """What a delete of the space's documents makes of them."""

    def put(conn: Connection) -> None:
        ids = [row[0] for row in conn.exec_driver_sql("SELECT id FROM document").all()]
        documents = load_documents(conn, ids).values()
        save_documents(conn, [replace(one, status=status) for one in documents if one.space_id == space_id])

    await gateway.parts.database.write(put)


async def test_a_space_is_renamed_and_described(either: Gateway) -> None:
    space_id = await either.make_space()
    body = {"name": " N\u0065\u0301 ", "description": "Rules.", "expectedVersion": 1}

    answer = await either.post(f"/spaces/{space_id}", body, method="PATCH")

    assert answer.status_code == 200
    Envelope[SpaceUpdated].model_validate_json(answer.content)
    assert answer.json()["data"] == {
        "spaceId": space_id,
        "name": " N\u0065\u0301 ",
        "description": "Rules.",
        "status": "ACTIVE",
        "version": 2,
    }
    cleared = await either.post(f"/spaces/{space_id}", {"description": "", "expectedVersion": 2}, method="PATCH")
    assert cleared.json()["data"] == {"spaceId": space_id, "name": " N\u0065\u0301 ", "status": "ACTIVE", "version": 3}
    assert "description" not in (await either.get(f"/spaces/{space_id}")).json()["data"]


async def test_a_space_is_not_changed_from_an_old_reading(gateway: Gateway) -> None:
    space_id = await gateway.make_space()

    checked_error(await rename(gateway, space_id, "x", expected=2), 409, "KNOWLEDGE_VERSION_CONFLICT")
    checked_error(await delete(gateway, space_id, expected=2), 409, "KNOWLEDGE_VERSION_CONFLICT")

    assert (await gateway.get(f"/spaces/{space_id}")).json()["data"]["version"] == 1


@pytest.mark.parametrize(
    ("status", "code", "http_status"),
    [
        (SpaceStatus.CREATING, "KNOWLEDGE_OPERATION_PENDING", 409),
        (SpaceStatus.DISABLED, "SPACE_DISABLED", 403),
        (SpaceStatus.CREATE_FAILED, "KNOWLEDGE_CONFLICT", 409),
        (SpaceStatus.DELETING, "KNOWLEDGE_CONFLICT", 409),
        (SpaceStatus.DELETE_FAILED, "KNOWLEDGE_CONFLICT", 409),
        (SpaceStatus.DELETED, "SPACE_NOT_FOUND", 404),
    ],
)
async def test_only_an_active_space_is_changed_or_takes_documents(
    gateway: Gateway, status: SpaceStatus, code: str, http_status: int
) -> None:
    space_id = await gateway.make_space()
    file = (await gateway.upload("a.txt", b"text")).json()["data"]["fileResourceId"]
    await turn(gateway, space_id, status)

    checked_error(await rename(gateway, space_id, "x"), http_status, code)
    body = {"fileResourceId": file, "documentName": "A"}
    checked_error(await gateway.post(f"/spaces/{space_id}/documents", body), http_status, code)


async def test_an_empty_space_is_deleted_and_its_code_is_free_again(either: Gateway) -> None:
    space_id = await either.make_space("handbook")

    answer = await delete(either, space_id)

    assert answer.status_code == 202
    accepted = Envelope[SpaceOperationAccepted].model_validate_json(answer.content).data
    assert (accepted.space_id, accepted.status) == (space_id, "PENDING")
    seen = (await either.get(f"/spaces/{space_id}")).json()["data"]
    assert (seen["status"], seen["version"]) == ("DELETING", 2)
    checked_error(await either.post("/spaces", space_request("handbook")), 409, "KNOWLEDGE_CONFLICT")

    await either.work()

    operation = (await either.get(f"/operations/{accepted.operation_id}")).json()["data"]
    assert (operation["status"], operation["operationType"]) == ("SUCCEEDED", "SPACE_DELETE")
    checked_error(await either.get(f"/spaces/{space_id}"), 404, "SPACE_NOT_FOUND")
    assert (await either.get("/spaces")).json()["data"]["items"] == []
    checked_error(await delete(either, space_id, expected=2), 404, "SPACE_NOT_FOUND")
    assert (await either.post("/spaces", space_request("handbook"))).status_code == 201
    told = await moves(either, accepted.operation_id)
    assert told == [("SPACE_DELETE", None, "PENDING", {"reason": "Not needed."})]


async def test_a_space_with_documents_is_not_deleted(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    await gateway.accept_document(space_id)
    checked_error(await delete(gateway, space_id), 409, "SPACE_NOT_EMPTY")
    await gateway.work()
    checked_error(await delete(gateway, space_id), 409, "SPACE_NOT_EMPTY")

    await hide_documents(gateway, space_id, DocumentStatus.DELETING)
    checked_error(await delete(gateway, space_id), 409, "SPACE_HAS_PENDING_OPERATIONS")
    await hide_documents(gateway, space_id, DocumentStatus.DELETED)

    assert (await delete(gateway, space_id)).status_code == 202


async def test_a_space_in_which_something_runs_is_not_deleted(gateway: Gateway) -> None:
    creating = (await gateway.post("/spaces", space_request())).json()["data"]["spaceId"]
    checked_error(await delete(gateway, creating), 409, "SPACE_HAS_PENDING_OPERATIONS")
    await gateway.work()
    await gateway.accept_document(creating)
    await hide_documents(gateway, creating, DocumentStatus.DELETED)
    checked_error(await delete(gateway, creating), 409, "SPACE_HAS_PENDING_OPERATIONS")
    empty = await gateway.make_space("empty")
    assert (await delete(gateway, empty)).status_code == 202
    checked_error(await delete(gateway, empty, expected=2), 409, "SPACE_HAS_PENDING_OPERATIONS")


@pytest.mark.parametrize("status", [SpaceStatus.DISABLED, SpaceStatus.CREATE_FAILED, SpaceStatus.DELETE_FAILED])
async def test_a_space_that_is_out_of_use_or_failed_may_be_deleted(gateway: Gateway, status: SpaceStatus) -> None:
    space_id = await gateway.make_space()
    await turn(gateway, space_id, status)

    assert (await delete(gateway, space_id)).status_code == 202

    await gateway.work()
    checked_error(await gateway.get(f"/spaces/{space_id}"), 404, "SPACE_NOT_FOUND")


async def race(gateway: Gateway, space_id: str, place: int) -> tuple[int, int, int]:
    """Delete a space and upload into it at once: accepted deletes, accepted uploads, documents that are there."""
    brought = [await gateway.upload("a.txt", f"text {name}".encode()) for name in "abc"]
    files = [answer.json()["data"]["fileResourceId"] for answer in brought]
    path = f"/spaces/{space_id}/documents"
    calls = [gateway.post(path, {"fileResourceId": file, "documentName": "A"}) for file in files]
    calls.insert(place, delete(gateway, space_id))

    answers = await asyncio.gather(*calls)

    assert {answer.status_code for answer in answers} <= {202, 409}
    accepted = [answer.json()["data"] for answer in answers if answer.status_code == 202]
    documents = await gateway.parts.database.read(
        lambda conn: run(conn, "SELECT count(*) FROM document WHERE space_id = :space", space=space_id).scalar_one()
    )
    uploads = sum("documentId" in data for data in accepted)
    return len(accepted) - uploads, uploads, documents


async def test_of_a_delete_and_uploads_at_once_never_both_are_accepted(either: Gateway) -> None:
    spaces = [await either.make_space(f"race-{number}") for number in range(16)]

    outcomes = {await race(either, space_id, number % 4) for number, space_id in enumerate(spaces)}

    assert outcomes <= {(1, 0, 0), (0, 3, 3)}


async def test_a_disabled_space_is_neither_changed_nor_searched_until_it_is_enabled(either: Gateway) -> None:
    space_id = await either.make_space()
    document_id = await either.make_document(space_id)
    other = await either.make_document(await either.make_space("other"), "Other")
    question = {"query": "hotel night"}
    both = {document_id, other}
    assert {hit["documentId"] for hit in (await either.post("/search", question)).json()["data"]["hits"]} == both
    citation_id = (await either.post("/search", {**question, "documentIds": [document_id]})).json()["data"]["hits"][0][
        "citationId"
    ]

    space = await switch(either, space_id, enabled=False)
    assert (space.status, space.lock_version) == (SpaceStatus.DISABLED, 2)
    assert (await switch(either, space_id, enabled=False)).lock_version == 2

    for search in ({"knowledgeSpaceIds": [space_id]}, {"documentIds": [document_id]}):
        checked_error(await either.post("/search", {**question, **search}), 403, "SPACE_DISABLED")
    assert [hit["documentId"] for hit in (await either.post("/search", question)).json()["data"]["hits"]] == [other]
    checked_error(await either.get(f"/citations/{citation_id}"), 404, "KNOWLEDGE_NOT_FOUND")
    for path, method, body in (
        (f"/documents/{document_id}", "PATCH", {"name": "x", "expectedVersion": 1}),
        (f"/documents/{document_id}:disable", "POST", {"expectedVersion": 1}),
        (f"/documents/{document_id}:reindex", "POST", {"expectedVersion": 1}),
        (f"/documents/{document_id}:replace", "POST", {"fileResourceId": "f", "expectedVersion": 1}),
        (f"/spaces/{space_id}/documents", "POST", {"fileResourceId": "f", "documentName": "x"}),
        (f"/spaces/{space_id}", "PATCH", {"name": "x", "expectedVersion": 2}),
    ):
        checked_error(await either.post(path, body, method=method), 403, "SPACE_DISABLED")
    detail = (await either.get(f"/documents/{document_id}")).json()["data"]
    assert (detail["status"], detail["searchable"], detail["lockVersion"]) == ("ACTIVE", True, 1)
    assert (await either.get(f"/spaces/{space_id}")).json()["data"]["status"] == "DISABLED"

    either.clock.move(timedelta(seconds=1))
    space = await switch(either, space_id, enabled=True)
    assert (space.status, space.lock_version) == (SpaceStatus.ACTIVE, 3)
    assert {hit["documentId"] for hit in (await either.post("/search", question)).json()["data"]["hits"]} == both
    assert (await either.get(f"/citations/{citation_id}")).status_code == 200
    told = await moves(either, space_id)
    assert sorted(told[:2], key=str) == [
        ("SPACE_DISABLE", "ACTIVE", "DISABLED", {"reason": "A pause."}),
        ("SPACE_DISABLE", "DISABLED", "DISABLED", {"reason": "A pause."}),
    ]
    assert told[2:] == [("SPACE_ENABLE", "DISABLED", "ACTIVE", {"reason": "A pause."})]


async def test_spaces_are_switched_by_managers_of_their_domain_without_a_grant(gateway: Gateway) -> None:
    space_id = await gateway.make_space()

    with pytest.raises(Forbidden):
        await switch(gateway, space_id, enabled=False, caller=replace(MANAGER, roles=("knowledge-admin",)))
    for stranger in (
        replace(MANAGER, domains=("secret",)),
        replace(MANAGER, tenant=TenantId("globex")),
    ):
        with pytest.raises(SpaceNotFound):
            await switch(gateway, space_id, enabled=False, caller=stranger)
    with pytest.raises(SpaceNotFound):
        await switch(gateway, "spc_none", enabled=False)

    assert (await switch(gateway, space_id, enabled=False)).status is SpaceStatus.DISABLED


@pytest.mark.parametrize(
    "status", [SpaceStatus.CREATING, SpaceStatus.CREATE_FAILED, SpaceStatus.DELETING, SpaceStatus.DELETE_FAILED]
)
async def test_a_space_on_its_way_in_or_out_is_not_switched(gateway: Gateway, status: SpaceStatus) -> None:
    space_id = await gateway.make_space()
    await turn(gateway, space_id, status)

    with pytest.raises(Conflict):
        await switch(gateway, space_id, enabled=True)


async def test_who_may_not_change_a_space_is_refused_before_its_state_is_looked_at(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    for path, method, body in (
        (f"/spaces/{space_id}", "PATCH", {"name": "x", "expectedVersion": 9}),
        (f"/spaces/{space_id}:delete", "POST", {"reason": "x", "expectedVersion": 9}),
    ):
        checked_error(await gateway.post(path, body, READER, method=method), 403, "KNOWLEDGE_FORBIDDEN")
        checked_error(await gateway.post(path, body, BOB, method=method), 404, "SPACE_NOT_FOUND")


async def test_answers_about_a_space_are_repeated_also_when_it_is_gone(either: Gateway) -> None:
    space_id = await either.make_space()
    asked: list[tuple[str, str, dict[str, object], str]] = [
        (f"/spaces/{space_id}", "PATCH", {"name": "Once", "expectedVersion": 1}, "u-1"),
        (f"/spaces/{space_id}:delete", "POST", {"reason": "Done.", "expectedVersion": 2}, "d-1"),
    ]
    first = [await either.post(path, body, method=method, key=key) for path, method, body, key in asked]
    assert [answer.status_code for answer in first] == [200, 202]
    await either.work()

    again = [await either.post(path, body, method=method, key=key) for path, method, body, key in asked]

    assert [answer.json()["data"] for answer in again] == [answer.json()["data"] for answer in first]
    assert [answer.headers["x-idempotent-replay"] for answer in again] == ["true", "true"]
    lesser = replace(READER, subject=ALICE.subject)
    for path, method, body, key in asked:
        checked_error(await either.post(path, body, lesser, method=method, key=key), 403, "KNOWLEDGE_FORBIDDEN")
    await either.parts.database.write(
        lambda conn: delete_grants(conn, list_grants(conn, TenantId("acme"), SpaceId(space_id)))
    )
    for path, method, body, key in asked:
        checked_error(await either.post(path, body, method=method, key=key), 404, "SPACE_NOT_FOUND")
