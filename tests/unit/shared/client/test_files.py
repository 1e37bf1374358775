"""Files go up and down piece by piece."""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime

import httpx
import pytest

from shared.client.errors import ContentChanged, Refused
from shared.client.files import Files
from shared.contracts.ids import DocumentId, VersionId
from shared.contracts.retrieval import DownloadLink
from tests.unit.shared.client.answering import ScriptedGateway, refusal, success

RESOURCE = {
    "fileResourceId": "frs_1",
    "fileName": "手册.txt",
    "mimeType": "text/plain",
    "fileSize": 6,
    "sha256": "0" * 64,
    "expiresAt": "2026-03-02T12:00:00.000Z",
    "deduplicated": False,
}

LINK = DownloadLink(
    document_id=DocumentId("doc_1"),
    version_id=VersionId("ver_1"),
    file_name="a.txt",
    mime_type="text/plain",
    file_size=6,
    download_url="http://127.0.0.1:1/downloads/sealed",
    expires_at=datetime(2026, 3, 1, 12, 1, tzinfo=UTC),
    expires_in_seconds=60,
)


def content(*pieces: bytes) -> Callable[[], AsyncIterator[bytes]]:
    async def read() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    return read


async def test_an_upload_names_its_file_and_announces_its_size() -> None:
    scripted = ScriptedGateway([success(RESOURCE, status=201)])

    resource = await Files(scripted.exchange()).upload("手册.txt", content(b"abc", b"def"), size=6)

    assert resource.file_resource_id == "frs_1"
    assert scripted.bodies == [b"abcdef"]
    headers = scripted.asked[0].headers
    assert headers["X-File-Name"] == "%E6%89%8B%E5%86%8C.txt"
    assert headers["Content-Length"] == "6"
    assert "Transfer-Encoding" not in headers
    assert headers["Authorization"] == "Bearer service"


async def test_an_upload_that_failed_begins_again_from_the_first_byte() -> None:
    busy = refusal(503, "PROVIDER_UNAVAILABLE", retryable=True)
    scripted = ScriptedGateway([busy, success(RESOURCE, status=201)])

    await Files(scripted.exchange()).upload("a.txt", content(b"abc", b"def"), size=6)

    assert scripted.bodies == [b"abcdef", b"abcdef"]


@pytest.mark.parametrize("size", [5, 7])
async def test_a_file_that_changes_its_size_meanwhile_is_not_taken_for_a_lost_connection(size: int) -> None:
    scripted = ScriptedGateway([success(RESOURCE, status=201)])

    with pytest.raises(ContentChanged):
        await Files(scripted.exchange()).upload("a.txt", content(b"abc", b"def"), size=size)


async def test_a_download_shows_nobodys_credentials() -> None:
    scripted = ScriptedGateway([httpx.Response(200, content=b"abcdef")])

    pieces = [piece async for piece in Files(scripted.exchange()).download(LINK)]

    assert b"".join(pieces) == b"abcdef"
    assert str(scripted.asked[0].url) == "http://127.0.0.1:1/downloads/sealed"
    assert "Authorization" not in scripted.asked[0].headers
    assert "X-User-Assertion" not in scripted.asked[0].headers


async def test_a_link_that_has_expired_is_a_refusal() -> None:
    scripted = ScriptedGateway([refusal(404, "KNOWLEDGE_NOT_FOUND")])

    with pytest.raises(Refused):
        _ = [piece async for piece in Files(scripted.exchange()).download(LINK)]
