"""What cannot be taken is refused or fails with a safe reason, at once, and harms nothing beside it."""

from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from services.cli.access import opened
from services.cli.settings import CliSettings
from services.cli.stack import Stack
from shared.client.errors import Refused
from shared.client.waiting import has_succeeded
from shared.contracts.documents import DocumentDetail, DocumentUploadRequest
from shared.contracts.enums import DocumentStatus, FailureReason, OperationStatus, VersionStatus
from shared.contracts.errors import ErrorCode
from shared.contracts.ids import SpaceId
from shared.contracts.retrieval import RetrievalMatches
from tests.e2e.conversation import Conversation, conversation

CORPUS = Path(__file__).parents[1] / "corpus" / "files"
PROGRAM = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\x3e\x00\x01\x00\x00\x00" + bytes(4000)
GOOD = b"# Ferry\n\nThe ferry to the northern island leaves at seven in the morning.\n"


async def failed_document(talk: Conversation, name: str, content: bytes) -> DocumentDetail:
    """The document of a file that cannot be ingested, after its operation has failed without a retry."""
    accepted = await talk.submit(name, content)
    operation = await talk.end_of(accepted.operation_id)
    assert (operation.status, operation.retry_count) == (OperationStatus.FAILED, 0)
    assert operation.retryable is False
    return await talk.client.gateway.get_document(accepted.document_id)


def reason_of(document: DocumentDetail) -> str:
    """Why its first version failed."""
    assert document.status is DocumentStatus.CREATE_FAILED
    assert not document.searchable
    candidate = document.candidate_version
    assert candidate is not None
    assert candidate.status is VersionStatus.FAILED
    assert candidate.error is not None
    assert not candidate.error.retryable
    assert "/" not in candidate.error.message
    return candidate.error.code


async def test_a_wrong_token_is_refused_and_nothing_more_is_said(stack: Stack) -> None:
    access = stack.access(CliSettings(url=None))
    wrong = replace(access, credentials=replace(access.credentials, service_token=SecretStr("not-the-token-of-anyone")))
    async with opened(wrong) as client:
        with pytest.raises(Refused) as refusal:
            await client.gateway.list_spaces()

    assert refusal.value.answer.status == 401
    assert refusal.value.code is ErrorCode.UNAUTHENTICATED
    assert refusal.value.answer.field_errors == ()


async def test_a_space_that_does_not_exist_is_not_found(stack: Stack) -> None:
    async with conversation(stack, "bad-input") as talk:
        resource = await talk.send("ferry.md", GOOD)
        request = DocumentUploadRequest(file_resource_id=resource.file_resource_id, document_name="ferry")
        with pytest.raises(Refused) as refusal:
            await talk.client.gateway.upload_document(SpaceId("spc_00000000000000000000000000"), request)

    assert refusal.value.answer.status == 404


async def test_an_empty_file_is_refused(stack: Stack) -> None:
    async with conversation(stack, "bad-input") as talk:
        with pytest.raises(Refused) as refusal:
            await talk.send("empty.txt", b"")

    assert refusal.value.code is ErrorCode.INVALID_INPUT
    assert "empty" in refusal.value.message


@pytest.mark.parametrize("name", ["report.pdf", "report.docx", "report.txt"])
async def test_a_program_is_refused_whatever_it_is_called(stack: Stack, name: str) -> None:
    async with conversation(stack, "bad-input") as talk:
        with pytest.raises(Refused) as refusal:
            await talk.send(name, PROGRAM)

    assert (refusal.value.answer.status, refusal.value.code) == (415, ErrorCode.FILE_TYPE_NOT_ALLOWED)


async def test_an_encrypted_pdf_fails_its_version_at_once(stack: Stack) -> None:
    async with conversation(stack, "bad-input") as talk:
        content = (CORPUS / "bad" / "encrypted-user.pdf").read_bytes()

        assert reason_of(await failed_document(talk, "secret.pdf", content)) == FailureReason.FILE_ENCRYPTED


async def test_a_truncated_docx_fails_its_version_or_is_refused(stack: Stack) -> None:
    whole = (CORPUS / "hr-zh.docx").read_bytes()
    async with conversation(stack, "bad-input") as talk:
        try:
            document = await failed_document(talk, "cut.docx", whole[: len(whole) // 2])
        except Refused as refusal:
            assert refusal.answer.status in {415, 422}  # noqa: PT017 - either end is right
        else:
            assert reason_of(document) == FailureReason.FILE_CORRUPT


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("../../etc/🚢 ferry.md", "🚢 ferry.md"),
        ("..\\..\\ferry.md", "ferry.md"),
        ("夜航 🌙.md", "夜航 🌙.md"),
    ],
)
async def test_a_name_is_a_name_and_never_a_path(stack: Stack, sent: str, kept: str) -> None:
    async with conversation(stack, "bad-input") as talk:
        accepted = await talk.submit(sent, GOOD)
        assert has_succeeded(await talk.end_of(accepted.operation_id))

        document = await talk.client.gateway.get_document(accepted.document_id)
        assert document.name == sent
        assert document.active_version is not None
        assert document.active_version.file_name == kept
    outside = [path for path in stack.home.root.parent.rglob("*ferry*") if path.is_file()]
    assert outside == []


async def test_what_fails_leaves_everything_beside_it_unharmed(stack: Stack) -> None:
    async with conversation(stack, "beside-bad-input") as talk:
        good = await talk.submit("ferry.md", GOOD)
        await failed_document(talk, "garbage.pdf", (CORPUS / "bad" / "garbage.pdf").read_bytes())
        assert has_succeeded(await talk.end_of(good.operation_id))

        found = await talk.search("When does the ferry leave?")

        assert isinstance(found, RetrievalMatches)
        assert {hit.document_id for hit in found.hits} == {good.document_id}
