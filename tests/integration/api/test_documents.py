"""Documents over HTTP: taken on, read, listed, replaced."""

from urllib.parse import quote

import pytest

from shared.contracts.documents import DocumentDetail
from shared.contracts.enums import FailureReason
from shared.contracts.envelope import Envelope
from shared.providers.scripted.script import Script
from tests.integration.api.harness import BOB, READER, Gateway, checked_error


async def test_an_upload_is_taken_on_and_becomes_an_active_document(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    accepted = await gateway.accept_document(space_id, "Travel")
    assert accepted.keys() == {"documentId", "operationId", "status"}
    assert accepted["status"] == "PENDING"

    await gateway.work()

    answer = await gateway.get(f"/documents/{accepted['documentId']}")
    Envelope[DocumentDetail].model_validate_json(answer.content)
    detail = answer.json()["data"]
    active = detail.pop("activeVersion")
    assert detail == {
        "documentId": accepted["documentId"],
        "spaceId": space_id,
        "name": "Travel",
        "status": "ACTIVE",
        "searchable": True,
        "metadata": {"category": None, "tags": [], "versionLabel": None, "productCode": None},
        "lockVersion": 1,
        "candidateVersion": None,
        "createdAt": "2031-05-06T07:08:09.000Z",
        "updatedAt": "2031-05-06T07:08:09.000Z",
    }
    assert active.pop("versionId").startswith("ver_")
    assert active == {
        "versionNo": 1,
        "changeType": "INITIAL_UPLOAD",
        "status": "READY",
        "fileName": "Travel.txt",
        "mimeType": "text/plain",
        "fileSize": 69,
        "operationId": accepted["operationId"],
        "operationStatus": "SUCCEEDED",
        "progressPercent": 100,
        "progressSource": "TERMINAL_STATE",
        "progressUpdatedAt": None,
        "retryable": False,
        "error": None,
        "createdAt": "2031-05-06T07:08:09.000Z",
        "processingStartedAt": "2031-05-06T07:08:09.000Z",
        "readyAt": "2031-05-06T07:08:09.000Z",
        "activatedAt": "2031-05-06T07:08:09.000Z",
        "failedAt": None,
        "cancelledAt": None,
    }


async def test_a_document_that_nobody_has_worked_on_shows_its_candidate(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    accepted = await gateway.accept_document(space_id)

    detail = (await gateway.get(f"/documents/{accepted['documentId']}")).json()["data"]

    assert detail["status"] == "CREATING"
    assert detail["searchable"] is False
    assert detail["activeVersion"] is None
    assert detail["candidateVersion"]["status"] == "CREATED"
    assert detail["candidateVersion"]["operationStatus"] == "PENDING"
    assert detail["candidateVersion"]["progressPercent"] is None
    assert detail["candidateVersion"]["progressSource"] == "UNAVAILABLE"


async def test_a_version_that_can_never_succeed_tells_why(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    gateway.provider.tell("Sealed.txt", Script(rejects=FailureReason.FILE_ENCRYPTED))
    document_id = await gateway.make_document(space_id, "Sealed")

    detail = (await gateway.get(f"/documents/{document_id}")).json()["data"]

    assert detail["status"] == "CREATE_FAILED"
    assert detail["candidateVersion"]["status"] == "FAILED"
    assert detail["candidateVersion"]["retryable"] is False
    assert detail["candidateVersion"]["error"] == {
        "code": "FILE_ENCRYPTED",
        "message": "The file is protected with a password. Remove the protection and upload it again.",
        "retryable": False,
    }
    operation_id = detail["candidateVersion"]["operationId"]
    operation = (await gateway.get(f"/operations/{operation_id}")).json()["data"]
    assert operation["status"] == "FAILED"
    assert operation["failureCode"] == "KNOWLEDGE_INVALID_INPUT"
    assert operation["retryCount"] == 0
    assert operation["nextPollAfterMs"] == 0


async def test_metadata_are_kept_normalised(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    file = (await gateway.upload("a.txt", b"text")).json()["data"]["fileResourceId"]
    metadata = {"category": "  e\u0301t\u00e9 ", "tags": ["b", "a"]}
    body = {"fileResourceId": file, "documentName": "A", "metadata": metadata}

    document_id = (await gateway.post(f"/spaces/{space_id}/documents", body)).json()["data"]["documentId"]

    detail = (await gateway.get(f"/documents/{document_id}")).json()["data"]
    assert detail["metadata"] == {
        "category": "\u00e9t\u00e9",
        "tags": ["b", "a"],
        "versionLabel": None,
        "productCode": None,
    }


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ({"author": "me"}, "KNOWLEDGE_METADATA_FIELD_NOT_ALLOWED"),
        ({"tags": None}, "KNOWLEDGE_METADATA_VALUE_INVALID"),
        ({"category": "x" * 65}, "KNOWLEDGE_METADATA_VALUE_INVALID"),
    ],
)
async def test_wrong_metadata_are_a_400_with_their_own_code(
    gateway: Gateway, metadata: dict[str, object], code: str
) -> None:
    body = {"fileResourceId": "f", "documentName": "A", "metadata": metadata}

    checked_error(await gateway.post("/spaces/spc_1/documents", body), 400, code)


async def test_a_file_belongs_to_its_uploader_alone(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    file = (await gateway.upload("a.txt", b"text", BOB)).json()["data"]["fileResourceId"]

    answer = await gateway.post(f"/spaces/{space_id}/documents", {"fileResourceId": file, "documentName": "A"})

    error = checked_error(answer, 404, "FILE_NOT_FOUND")
    assert error["fieldErrors"][0]["field"] == "$.fileResourceId"


async def test_an_upload_into_an_unknown_or_foreign_space_is_a_404(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    file = (await gateway.upload("a.txt", b"text", BOB)).json()["data"]["fileResourceId"]
    body = {"fileResourceId": file, "documentName": "A"}

    checked_error(await gateway.post("/spaces/spc_none/documents", body, BOB), 404, "SPACE_NOT_FOUND")
    checked_error(await gateway.post(f"/spaces/{space_id}/documents", body, BOB), 404, "SPACE_NOT_FOUND")


async def test_a_reader_uploads_nothing(gateway: Gateway) -> None:
    body = {"fileResourceId": "f", "documentName": "A"}

    checked_error(await gateway.post("/spaces/spc_1/documents", body, READER), 403, "KNOWLEDGE_FORBIDDEN")
    checked_error(await gateway.upload("a.txt", b"text", READER), 403, "KNOWLEDGE_FORBIDDEN")


async def test_a_space_that_is_still_being_made_takes_no_documents(gateway: Gateway) -> None:
    space_id = (await gateway.post("/spaces", _space())).json()["data"]["spaceId"]
    file = (await gateway.upload("a.txt", b"text")).json()["data"]["fileResourceId"]

    answer = await gateway.post(f"/spaces/{space_id}/documents", {"fileResourceId": file, "documentName": "A"})

    checked_error(answer, 409, "KNOWLEDGE_OPERATION_PENDING")


async def test_documents_are_listed_with_the_version_that_serves(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    document_id = await gateway.make_document(space_id, "First")
    await gateway.accept_document(space_id, "Second")

    answer = await gateway.get(f"/spaces/{space_id}/documents", page=1, pageSize=20)

    first, second = answer.json()["data"]["items"]
    version_id = first["activeVersion"].pop("versionId")
    assert version_id.startswith("ver_")
    assert first == {
        "documentId": document_id,
        "knowledgeSpaceId": space_id,
        "name": "First",
        "status": "ACTIVE",
        "version": 1,
        "metadata": {"category": None, "tags": [], "versionLabel": None, "productCode": None},
        "activeVersion": {
            "versionNumber": 1,
            "status": "READY",
            "fileName": "First.txt",
            "mimeType": "text/plain",
            "fileSize": 69,
        },
    }
    assert second["activeVersion"] is None
    assert answer.json()["meta"]["pagination"]["totalItems"] == 2


async def test_documents_of_a_space_without_any_are_an_empty_list(gateway: Gateway) -> None:
    space_id = await gateway.make_space()

    assert (await gateway.get(f"/spaces/{space_id}/documents")).json()["data"] == {"items": []}


async def test_documents_of_an_unknown_or_invisible_space_are_a_404(gateway: Gateway) -> None:
    space_id = await gateway.make_space()

    checked_error(await gateway.get("/spaces/spc_none/documents"), 404, "SPACE_NOT_FOUND")
    checked_error(await gateway.get(f"/spaces/{space_id}/documents", BOB), 404, "SPACE_NOT_FOUND")


async def test_a_replacement_leaves_the_old_version_serving_until_it_is_ready(gateway: Gateway) -> None:
    document_id = await gateway.make_document(await gateway.make_space())
    before = (await gateway.get(f"/documents/{document_id}")).json()["data"]

    file = (await gateway.upload("new.txt", b"Planes go first.")).json()["data"]["fileResourceId"]
    answer = await gateway.post(f"/documents/{document_id}:replace", {"fileResourceId": file, "expectedVersion": 1})

    assert answer.status_code == 202
    assert answer.json()["data"]["documentId"] == document_id
    during = (await gateway.get(f"/documents/{document_id}")).json()["data"]
    assert during["activeVersion"] == before["activeVersion"]
    assert during["candidateVersion"]["versionNo"] == 2
    assert during["candidateVersion"]["changeType"] == "REPLACE"
    assert during["lockVersion"] == 2
    await gateway.work()
    after = (await gateway.get(f"/documents/{document_id}")).json()["data"]
    assert after["activeVersion"]["versionId"] == during["candidateVersion"]["versionId"]
    assert after["candidateVersion"] is None


async def test_a_replacement_made_from_an_old_reading_is_refused(gateway: Gateway) -> None:
    document_id = await gateway.make_document(await gateway.make_space())
    file = (await gateway.upload("new.txt", b"Planes go first.")).json()["data"]["fileResourceId"]

    answer = await gateway.post(f"/documents/{document_id}:replace", {"fileResourceId": file, "expectedVersion": 0})

    checked_error(answer, 409, "DOCUMENT_VERSION_CONFLICT")


async def test_a_second_replacement_waits_for_the_first(gateway: Gateway) -> None:
    document_id = await gateway.make_document(await gateway.make_space())
    file = (await gateway.upload("new.txt", b"Planes go first.")).json()["data"]["fileResourceId"]
    body = {"fileResourceId": file, "expectedVersion": 1}
    assert (await gateway.post(f"/documents/{document_id}:replace", body)).status_code == 202

    answer = await gateway.post(f"/documents/{document_id}:replace", {**body, "expectedVersion": 2})

    checked_error(answer, 409, "KNOWLEDGE_OPERATION_PENDING")


async def test_the_action_is_split_from_the_id_on_the_raw_path(gateway: Gateway) -> None:
    document_id = quote("doc:1/replace", safe="")

    answer = await gateway.post(f"/documents/{document_id}:replace", {"fileResourceId": "f", "expectedVersion": 0})
    checked_error(answer, 404, "DOCUMENT_NOT_FOUND")
    assert (await gateway.post("/documents/doc_1%3Areplace", {})).status_code == 405


def _space() -> dict[str, str]:
    return {
        "code": "new",
        "name": "New",
        "profileCode": "enterprise-long-document",
        "defaultSecurityDomainCode": "general",
    }


async def test_a_list_begins_after_a_document_that_the_caller_may_see(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    ids = [(await gateway.accept_document(space_id, f"Note {number}"))["documentId"] for number in range(3)]
    path = f"/spaces/{space_id}/documents"

    listed = (await gateway.get(path, pageSize=1, after=ids[0])).json()

    assert [item["documentId"] for item in listed["data"]["items"]] == [ids[1]]
    assert listed["meta"]["pagination"] == {
        "page": 1,
        "pageSize": 1,
        "totalItems": 2,
        "totalPages": 2,
        "hasNext": True,
    }
    error = checked_error(await gateway.get(path, after="doc_none"), 404, "DOCUMENT_NOT_FOUND")
    assert error["fieldErrors"][0]["field"] == "$.after"
