"""A large file goes up piece by piece, and goes on from where the gateway says that it is."""

from collections.abc import AsyncIterator

import httpx
import pytest

from shared.client.errors import ContentChanged, Refused, Unreachable
from shared.client.files import Files
from shared.client.resumable import Rewound, send_resumably
from tests.unit.shared.client.answering import Reply, ScriptedGateway, success

CONTENT = b"abcdefghij"
LOST = httpx.ReadError("connection lost")


async def pieces() -> AsyncIterator[bytes]:
    for start in range(0, len(CONTENT), 3):
        yield CONTENT[start : start + 3]


def begun() -> httpx.Response:
    return httpx.Response(201, headers={"Location": "/internal/v1/uploads/upl_1"})


def at(offset: int, status: int = 200) -> httpx.Response:
    return httpx.Response(status, headers={"Upload-Offset": str(offset)})


def went_on(offset: int) -> httpx.Response:
    return at(offset, 204)


def ended(status: int = 204) -> httpx.Response:
    return httpx.Response(status, headers={"Upload-Offset": "10", "X-File-Resource-Id": "frs_1"})


def failed(status: int, code: str | None) -> httpx.Response:
    return httpx.Response(status, headers={} if code is None else {"X-Error-Code": code})


async def send(scripted: ScriptedGateway) -> str:
    return await send_resumably(scripted.exchange(), "手册.txt", pieces, size=10, piece_bytes=4)


def sent(scripted: ScriptedGateway) -> list[bytes]:
    return [body for request, body in zip(scripted.asked, scripted.bodies, strict=True) if request.method == "PATCH"]


async def test_every_piece_follows_what_has_arrived() -> None:
    scripted = ScriptedGateway([begun(), at(0), went_on(4), at(4), went_on(8), at(8), ended()])

    assert await send(scripted) == "frs_1"

    assert sent(scripted) == [b"abcd", b"efgh", b"ij"]
    first, _, piece = scripted.asked[:3]
    assert first.headers["Upload-Length"] == "10"
    assert first.headers["Upload-Metadata"] == "filename 5omL5YaMLnR4dA=="
    assert piece.headers["Upload-Offset"] == "0"
    assert piece.headers["Content-Length"] == "4"
    assert {request.headers["Tus-Resumable"] for request in scripted.asked} == {"1.0.0"}
    assert {request.headers["Authorization"] for request in scripted.asked} == {"Bearer service"}


async def test_after_a_lost_connection_it_goes_on_from_what_was_kept() -> None:
    scripted = ScriptedGateway([begun(), at(0), went_on(4), at(4), LOST, at(5), went_on(9), at(9), ended()])

    await send(scripted)

    assert sent(scripted) == [b"abcd", b"efgh", b"fghi", b"j"]
    assert len(scripted.pauses) == 1


async def test_a_piece_that_arrived_although_its_answer_was_lost_is_not_sent_again() -> None:
    scripted = ScriptedGateway([begun(), at(8), LOST, ended(200)])

    assert await send(scripted) == "frs_1"
    assert sent(scripted) == [b"ij"]


async def test_each_piece_has_the_whole_patience() -> None:
    replies: list[Reply] = [begun(), LOST, LOST, at(0), went_on(4), LOST, LOST, at(4), went_on(8), LOST, at(8), ended()]

    assert await send(ScriptedGateway(replies)) == "frs_1"


async def test_patience_has_an_end() -> None:
    with pytest.raises(Unreachable):
        await send(ScriptedGateway([begun(), LOST, LOST, LOST]))


async def test_what_is_refused_is_told_with_its_code() -> None:
    headers = {"X-Error-Code": "FILE_TYPE_NOT_ALLOWED"}
    refused = httpx.Response(415, text="The content is a Windows program.\n", headers=headers)

    with pytest.raises(Refused) as raised:
        await send(ScriptedGateway([begun(), at(0), refused]))

    assert (raised.value.answer.status, raised.value.code.value) == (415, "FILE_TYPE_NOT_ALLOWED")
    assert raised.value.message == "The content is a Windows program."


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (409, "KNOWLEDGE_CONFLICT"),
        (429, "RATE_LIMITED"),
        (503, "PROVIDER_UNAVAILABLE"),
        (429, None),
        (500, None),
        (502, None),
        (503, "A_CODE_OF_LATER"),
    ],
)
async def test_what_passes_is_asked_again(status: int, code: str | None) -> None:
    scripted = ScriptedGateway([begun(), at(8), failed(status, code), at(8), ended()])

    assert await send(scripted) == "frs_1"
    assert sent(scripted) == [b"ij", b"ij"]


@pytest.mark.parametrize(
    ("status", "code"),
    [(500, "INTERNAL_ERROR"), (404, "FILE_NOT_FOUND"), (413, "FILE_TOO_LARGE"), (403, None), (404, "A_CODE_OF_LATER")],
)
async def test_what_does_not_pass_is_not_asked_again(status: int, code: str | None) -> None:
    scripted = ScriptedGateway([begun(), at(8), failed(status, code)])

    with pytest.raises(Refused):
        await send(scripted)

    assert scripted.pauses == []


async def test_a_file_that_became_shorter_is_not_taken_for_a_lost_connection() -> None:
    scripted = ScriptedGateway([begun(), at(8), went_on(12)])

    with pytest.raises(ContentChanged):
        await send_resumably(scripted.exchange(), "a.txt", pieces, size=12)


async def test_only_a_file_above_the_limit_goes_up_in_pieces() -> None:
    resource = {
        "fileResourceId": "frs_1",
        "fileName": "a.txt",
        "mimeType": "text/plain",
        "fileSize": 10,
        "sha256": "0" * 64,
        "expiresAt": "2026-03-02T12:00:00.000Z",
        "deduplicated": False,
        "documents": [],
    }
    small = ScriptedGateway([success(resource, status=201)])
    large = ScriptedGateway([begun(), at(0), ended(), success(resource)])

    for scripted, limit in ((small, 10), (large, 9)):
        file = await Files(scripted.exchange(), resumable_above=limit).upload("a.txt", pieces, size=10)
        assert file.file_resource_id == "frs_1"

    assert [request.method for request in small.asked] == ["POST"]
    assert [request.method for request in large.asked] == ["POST", "HEAD", "PATCH", "GET"]
    assert large.asked[3].url.path == "/internal/v1/files/frs_1"


async def test_a_content_is_read_on_and_opened_anew_only_to_go_back() -> None:
    opened = []

    def open_content() -> AsyncIterator[bytes]:
        opened.append(1)
        return pieces()

    content = Rewound(open_content)

    async def read(start: int, size: int) -> bytes:
        return b"".join([piece async for piece in content.read(start, size)])

    assert [await read(0, 4), await read(4, 2), await read(8, 2)] == [b"abcd", b"ef", b"ij"]
    assert len(opened) == 1
    assert await read(1, 9) == b"bcdefghij"
    assert len(opened) == 2
