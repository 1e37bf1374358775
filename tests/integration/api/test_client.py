"""The product's own client against the api: from a file to a cited answer, with nothing in between but HTTP."""

from collections.abc import AsyncIterator

from pydantic import SecretStr

from shared.client.credentials import Credentials
from shared.client.exchange import Exchange, Patience
from shared.client.files import Files
from shared.client.gateway import Gateway as Client
from shared.contracts.documents import DocumentReplaceRequest, DocumentUploadRequest
from shared.contracts.enums import OperationStatus
from shared.contracts.retrieval import RetrievalMatches, RetrievalRequest
from shared.contracts.spaces import SpaceCreateRequest
from tests.integration.api.harness import ALICE, TOKEN, TRAVEL, Gateway, space_request


def connect(gateway: Gateway) -> tuple[Client, Files]:
    credentials = Credentials(
        service_token=SecretStr(TOKEN),
        session_id=ALICE.session,
        assertion=lambda: SecretStr(gateway.assertion(ALICE)),
    )
    exchange = Exchange(gateway.http, credentials, patience=Patience())
    return Client(exchange), Files(exchange)


async def pieces_of(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), 7):
        yield content[start : start + 7]


async def test_a_file_goes_in_and_a_cited_answer_comes_out(gateway: Gateway) -> None:
    client, files = connect(gateway)
    space = await client.create_space(SpaceCreateRequest.model_validate(space_request("handbook")))
    await gateway.work()
    file = await files.upload("差旅 policy.txt", lambda: pieces_of(TRAVEL), size=len(TRAVEL))
    assert (file.file_name, file.file_size) == ("差旅 policy.txt", 69)

    request = DocumentUploadRequest(file_resource_id=file.file_resource_id, document_name="Travel")
    accepted = await client.upload_document(space.space_id, request)
    await gateway.work()
    operation = await client.get_operation(accepted.operation_id)
    assert operation.status is OperationStatus.SUCCEEDED

    found = await client.search(RetrievalRequest(query="hotel night", knowledge_space_ids=(space.space_id,)))
    assert isinstance(found, RetrievalMatches)
    source = await client.read_citation(found.hits[0].citation_id, before=5, after=5)
    assert source.matched_content == "A night in a hotel costs 120 euros at most."
    link = await client.create_download_link(accepted.document_id)
    address = link.model_copy(update={"download_url": link.download_url.replace("http://localhost:8080", "")})
    assert b"".join([piece async for piece in files.download(address)]) == TRAVEL


async def test_the_client_pages_through_everything_and_replaces_what_it_has_read(gateway: Gateway) -> None:
    client, files = connect(gateway)
    await gateway.make_space("other")
    space_id = await gateway.make_space("handbook")
    found = await client.find_space("handbook")
    assert found is not None
    assert found.space_id == space_id
    for number in range(22):
        await gateway.accept_document(space_id, f"Document {number}", f"text {number}".encode())
    await gateway.work()

    documents = [document async for document in client.all_documents(found.space_id)]
    detail = await client.get_document(documents[-1].document_id)
    file = await files.upload("new.txt", lambda: pieces_of(b"new text"), size=8)
    replaced = await client.replace_document(
        detail.document_id,
        DocumentReplaceRequest(file_resource_id=file.file_resource_id, expected_version=detail.lock_version),
    )

    assert [document.name for document in documents] == [f"Document {number}" for number in range(22)]
    assert replaced.document_id == detail.document_id
