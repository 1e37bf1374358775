"""Documents renamed, described, taken out of use and put back, on both databases: all of it takes effect at once."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection

from shared.contracts.documents import Document
from shared.contracts.enums import DocumentStatus, FailureReason, PrincipalKind
from shared.contracts.envelope import Envelope
from shared.contracts.ids import DocumentId, SpaceId, SubjectId, TenantId
from shared.database.documents import load_documents, save_documents
from shared.database.grants import Grant, delete_grants, insert_grants, list_grants
from shared.domain.authorization import Principal
from shared.providers.scripted.script import Script
from tests.integration.api.harness import ALICE, BOB, READER, START, TRAVEL, Gateway, checked_error
from tests.integration.api.looking import moves

EMPTY: dict[str, object] = {"category": None, "tags": [], "versionLabel": None, "productCode": None}


async def change(gateway: Gateway, document_id: str, body: dict[str, object], key: str | None = None) -> Any:
    answer = await gateway.post(f"/documents/{document_id}", body, method="PATCH", key=key)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def found(gateway: Gateway, **search: object) -> list[Any]:
    answer = await gateway.post("/search", {"query": "hotel night", **search})
    assert answer.status_code == 200, answer.text
    hits: list[Any] = answer.json()["data"]["hits"]
    return hits


async def test_a_rename_is_answered_at_once_and_seen_everywhere(either: Gateway) -> None:
    space_id = await either.make_space()
    document_id = await either.make_document(space_id, "Travel")

    answer = await either.post(
        f"/documents/{document_id}", {"name": " Reisen\u0301 ", "expectedVersion": 1}, method="PATCH"
    )

    assert answer.status_code == 200
    Envelope[Document].model_validate_json(answer.content)
    data = answer.json()["data"]
    assert data["activeVersion"].pop("versionId").startswith("ver_")
    assert data == {
        "documentId": document_id,
        "knowledgeSpaceId": space_id,
        "name": " Reisen\u0301 ",
        "status": "ACTIVE",
        "version": 2,
        "metadata": EMPTY,
        "activeVersion": {
            "versionNumber": 1,
            "status": "READY",
            "fileName": "Travel.txt",
            "mimeType": "text/plain",
            "fileSize": 69,
        },
    }
    detail = (await either.get(f"/documents/{document_id}")).json()["data"]
    listed = (await either.get(f"/spaces/{space_id}/documents")).json()["data"]["items"]
    assert (detail["name"], detail["lockVersion"]) == (" Reisen\u0301 ", 2)
    assert [item["name"] for item in listed] == [" Reisen\u0301 "]
    assert [hit["documentName"] for hit in await found(either)] == [" Reisen\u0301 "]


async def test_a_patch_keeps_what_is_absent_clears_what_is_null_and_replaces_tags(either: Gateway) -> None:
    document_id = await either.make_document(await either.make_space())
    full = {"category": "Policy", "tags": ["b", "a"], "versionLabel": "v1", "productCode": "p-1"}
    first = await change(either, document_id, {"metadata": full, "expectedVersion": 1})
    assert (first["metadata"], first["version"]) == (full, 2)

    patch = {"category": None, "tags": ["c", "a"]}
    second = await change(either, document_id, {"metadata": patch, "expectedVersion": 2})
    assert second["metadata"] == {"category": None, "tags": ["c", "a"], "versionLabel": "v1", "productCode": "p-1"}

    third = await change(either, document_id, {"name": "Kept", "metadata": {}, "expectedVersion": 3})
    assert (third["metadata"], third["name"], third["version"]) == (second["metadata"], "Kept", 4)
    fourth = await change(either, document_id, {"metadata": {"tags": []}, "expectedVersion": 4})
    assert fourth["metadata"]["tags"] == []


async def test_metadata_filter_hits_at_once(either: Gateway) -> None:
    space_id = await either.make_space()
    document_id = await either.make_document(space_id)
    only = {"category": ["Policy"], "tagsAll": ["a", "b"]}
    assert await found(either, metadataFilter=only) == []

    await change(either, document_id, {"metadata": {"category": " Policy ", "tags": ["a", "b"]}, "expectedVersion": 1})
    (hit,) = await found(either, metadataFilter=only)
    assert hit["metadata"] == {**EMPTY, "category": "Policy", "tags": ["a", "b"]}

    await change(either, document_id, {"metadata": {"tags": ["a"]}, "expectedVersion": 2})
    assert await found(either, metadataFilter=only) == []
    assert len(await found(either, metadataFilter={"tagsAny": ["a", "z"]})) == 1


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"name": "x"}, 422, "KNOWLEDGE_INVALID_INPUT"),
        ({"expectedVersion": 1}, 422, "KNOWLEDGE_INVALID_INPUT"),
        ({"expectedVersion": 1, "metadata": {}}, 422, "KNOWLEDGE_INVALID_INPUT"),
        ({"expectedVersion": 1, "name": None}, 422, "KNOWLEDGE_INVALID_INPUT"),
        ({"expectedVersion": 1, "name": ""}, 422, "KNOWLEDGE_INVALID_INPUT"),
        ({"expectedVersion": -1, "name": "x"}, 422, "KNOWLEDGE_INVALID_INPUT"),
        ({"expectedVersion": 1, "metadata": {"tags": None}}, 400, "KNOWLEDGE_METADATA_VALUE_INVALID"),
        ({"expectedVersion": 1, "metadata": {"author": "x"}}, 400, "KNOWLEDGE_METADATA_FIELD_NOT_ALLOWED"),
        ({"expectedVersion": 0, "name": "x"}, 409, "DOCUMENT_VERSION_CONFLICT"),
    ],
)
async def test_an_update_that_cannot_be_changes_nothing(
    gateway: Gateway, body: dict[str, object], status: int, code: str
) -> None:
    document_id = await gateway.make_document(await gateway.make_space())

    checked_error(await gateway.post(f"/documents/{document_id}", body, method="PATCH"), status, code)

    assert (await gateway.get(f"/documents/{document_id}")).json()["data"]["lockVersion"] == 1


async def test_a_document_is_described_in_every_status_in_which_it_is_seen(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    creating = (await gateway.accept_document(space_id, "New"))["documentId"]
    assert (await change(gateway, creating, {"name": "Newer", "expectedVersion": 0}))["activeVersion"] is None
    await gateway.work()
    assert (await gateway.get(f"/documents/{creating}")).json()["data"]["name"] == "Newer"
    gateway.provider.tell("Sealed.txt", Script(rejects=FailureReason.FILE_ENCRYPTED))
    failed = await gateway.make_document(space_id, "Sealed")
    assert (await change(gateway, failed, {"name": "Opened", "expectedVersion": 0}))["status"] == "CREATE_FAILED"
    assert (await gateway.post(f"/documents/{creating}:disable", {"expectedVersion": 2})).status_code == 200
    assert (await change(gateway, creating, {"name": "Out", "expectedVersion": 3}))["status"] == "DISABLED"


async def test_a_disabled_document_is_not_found_not_cited_and_not_downloaded_until_it_is_enabled(
    either: Gateway,
) -> None:
    space_id = await either.make_space()
    document_id = await either.make_document(space_id)
    (hit, *_) = await found(either)
    link = (await either.post(f"/documents/{document_id}:create-download-link", {})).json()["data"]["downloadUrl"]
    path = link.removeprefix("http://localhost:8080")

    answer = await either.post(f"/documents/{document_id}:disable", {"expectedVersion": 1, "reason": "Outdated."})

    assert answer.status_code == 200
    Envelope[Document].model_validate_json(answer.content)
    assert (answer.json()["data"]["status"], answer.json()["data"]["version"]) == ("DISABLED", 2)
    assert await found(either) == []
    assert await found(either, documentIds=[document_id]) == []
    checked_error(await either.get(f"/citations/{hit['citationId']}"), 404, "KNOWLEDGE_NOT_FOUND")
    assert (await either.http.get(path)).status_code == 404
    checked_error(await either.post(f"/documents/{document_id}:create-download-link", {}), 409, "KNOWLEDGE_CONFLICT")
    assert (await either.get(f"/documents/{document_id}")).json()["data"]["searchable"] is False

    either.clock.move(timedelta(seconds=1))
    enabled = await either.post(f"/documents/{document_id}:enable", {"expectedVersion": 2})
    assert (enabled.json()["data"]["status"], enabled.json()["data"]["version"]) == ("ACTIVE", 3)
    assert len(await found(either)) == 1
    assert (await either.get(f"/citations/{hit['citationId']}")).status_code == 200
    assert (await either.http.get(path)).content == TRAVEL
    assert await moves(either, document_id) == [
        ("DOCUMENT_DISABLE", "ACTIVE", "DISABLED", {"reason": "Outdated."}),
        ("DOCUMENT_ENABLE", "DISABLED", "ACTIVE", {}),
    ]


async def test_a_document_that_is_so_already_is_not_changed_and_the_version_is_compared_all_the_same(
    gateway: Gateway,
) -> None:
    document_id = await gateway.make_document(await gateway.make_space())
    path = f"/documents/{document_id}:enable"

    same = await gateway.post(path, {"expectedVersion": 1})
    stale = await gateway.post(path, {"expectedVersion": 0})

    assert (same.json()["data"]["status"], same.json()["data"]["version"]) == ("ACTIVE", 1)
    checked_error(stale, 409, "DOCUMENT_VERSION_CONFLICT")
    assert (await gateway.get(f"/documents/{document_id}")).json()["data"]["lockVersion"] == 1


@pytest.mark.parametrize("move", ["enable", "disable"])
async def test_a_document_that_was_never_created_is_not_switched(gateway: Gateway, move: str) -> None:
    space_id = await gateway.make_space()
    creating = (await gateway.accept_document(space_id, "New"))["documentId"]
    checked_error(
        await gateway.post(f"/documents/{creating}:{move}", {"expectedVersion": 0}), 409, "KNOWLEDGE_CONFLICT"
    )
    gateway.provider.tell("New.txt", Script(rejects=FailureReason.FILE_CORRUPT))
    await gateway.work()
    checked_error(
        await gateway.post(f"/documents/{creating}:{move}", {"expectedVersion": 0}), 409, "KNOWLEDGE_CONFLICT"
    )


async def test_a_disabled_document_takes_a_new_version_and_stays_disabled(gateway: Gateway) -> None:
    document_id = await gateway.make_document(await gateway.make_space())
    await gateway.post(f"/documents/{document_id}:disable", {"expectedVersion": 1})
    file = (await gateway.upload("new.txt", b"A night in a hotel is free.")).json()["data"]["fileResourceId"]
    body = {"fileResourceId": file, "expectedVersion": 2, "reason": "New rates."}
    assert (await gateway.post(f"/documents/{document_id}:replace", body)).status_code == 202
    await gateway.work()

    detail = (await gateway.get(f"/documents/{document_id}")).json()["data"]
    assert (detail["status"], detail["activeVersion"]["versionNo"], detail["searchable"]) == ("DISABLED", 2, False)
    assert await found(gateway) == []
    operation_id = detail["activeVersion"]["operationId"]
    assert await moves(gateway, operation_id) == [("DOCUMENT_REPLACE", None, "PENDING", {"reason": "New rates."})]


async def test_a_grant_on_the_document_alone_is_enough_to_change_it(either: Gateway) -> None:
    space_id = await either.make_space()
    document_id = await either.make_document(space_id)
    path = f"/documents/{document_id}"
    checked_error(
        await either.post(path, {"name": "x", "expectedVersion": 1}, BOB, method="PATCH"), 404, "DOCUMENT_NOT_FOUND"
    )
    grant = Grant(
        tenant_id=TenantId("acme"),
        space_id=SpaceId(space_id),
        document_id=DocumentId(document_id),
        principal=Principal(PrincipalKind.USER, BOB.subject),
        created_by=SubjectId("alice"),
        created_at=START,
    )
    await either.parts.database.write(lambda conn: insert_grants(conn, [grant]))

    answer = await either.post(path, {"name": "Bob's", "expectedVersion": 1}, BOB, method="PATCH")

    assert answer.json()["data"]["name"] == "Bob's"
    assert (await either.post(f"{path}:reindex", {"expectedVersion": 2}, BOB)).status_code == 202


@pytest.mark.parametrize(
    ("move", "method"), [("", "PATCH"), (":enable", "POST"), (":disable", "POST"), (":reindex", "POST")]
)
async def test_who_may_not_change_a_document_is_refused_before_its_state_is_looked_at(
    gateway: Gateway, move: str, method: str
) -> None:
    document_id = await gateway.make_document(await gateway.make_space())
    body = {"expectedVersion": 99, **({"name": "x"} if method == "PATCH" else {})}

    answer = await gateway.post(f"/documents/{document_id}{move}", body, READER, method=method)
    checked_error(answer, 403, "KNOWLEDGE_FORBIDDEN")
    for path in (f"/documents/{document_id}{move}", f"/documents/doc_none{move}"):
        checked_error(await gateway.post(path, body, BOB, method=method), 404, "DOCUMENT_NOT_FOUND")


async def test_an_answer_is_repeated_also_when_the_document_is_gone_by_now(either: Gateway) -> None:
    document_id = await either.make_document(await either.make_space())
    asked = [
        (f"/documents/{document_id}", "PATCH", {"name": "Once", "expectedVersion": 1}, "u-1"),
        (f"/documents/{document_id}:disable", "POST", {"expectedVersion": 2}, "d-1"),
        (f"/documents/{document_id}:enable", "POST", {"expectedVersion": 3}, "e-1"),
        (f"/documents/{document_id}:reindex", "POST", {"expectedVersion": 4}, "r-1"),
    ]
    first = [await either.post(path, body, method=method, key=key) for path, method, body, key in asked]
    assert [answer.status_code for answer in first] == [200, 200, 200, 202]
    await either.work()
    await either.parts.database.write(lambda conn: _hide(conn, DocumentId(document_id)))
    checked_error(await either.get(f"/documents/{document_id}"), 404, "DOCUMENT_NOT_FOUND")

    again = [await either.post(path, body, method=method, key=key) for path, method, body, key in asked]

    assert [answer.json()["data"] for answer in again] == [answer.json()["data"] for answer in first]
    assert [answer.headers["x-idempotent-replay"] for answer in again] == ["true"] * 4
    lesser = replace(READER, subject=ALICE.subject)
    for path, method, body, key in asked:
        checked_error(await either.post(path, body, lesser, method=method, key=key), 403, "KNOWLEDGE_FORBIDDEN")
    await either.parts.database.write(lambda conn: _revoke(conn, DocumentId(document_id)))
    for path, method, body, key in asked:
        checked_error(await either.post(path, body, method=method, key=key), 404, "DOCUMENT_NOT_FOUND")


async def test_a_document_is_taken_out_of_use_also_while_the_broker_is_away(gateway: Gateway) -> None:
    document_id = await gateway.make_document(await gateway.make_space())
    gateway.broker.is_there = False
    gateway.seconds[0] += 61

    assert (await gateway.post(f"/documents/{document_id}:disable", {"expectedVersion": 1})).status_code == 200
    assert (await gateway.post(f"/documents/{document_id}:reindex", {"expectedVersion": 2})).status_code == 503


def _hide(conn: Connection, document_id: DocumentId) -> None:
    """What the end of a delete leaves behind."""
    save_documents(conn, [replace(load_documents(conn, {document_id})[document_id], status=DocumentStatus.DELETED)])


def _revoke(conn: Connection, document_id: DocumentId) -> None:
    space_id = load_documents(conn, {document_id})[document_id].space_id
    delete_grants(conn, list_grants(conn, TenantId("acme"), space_id))
