"""Files over HTTP: streamed, told by their content, kept once, and nothing kept of those that are refused."""

import shutil
import subprocess
import zipfile
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from io import BytesIO
from urllib.parse import quote

import pytest

from shared.contracts.envelope import Envelope
from shared.contracts.files import FileResource
from shared.contracts.ids import SpaceId
from shared.providers.ports import SpaceRef
from tests.integration.api.harness import BOB, PROFILE, Gateway, checked_error
from tests.integration.api.uploading import stored_objects

FILES = "/internal/v1/files"
MOUNT, UNMOUNT = shutil.which("mount") or "mount", shutil.which("umount") or "umount"


async def test_a_file_is_stored_and_answered_as_a_resource(gateway: Gateway) -> None:
    answer = await gateway.upload("report.md", b"# Report\n")

    assert answer.status_code == 201
    Envelope[FileResource].model_validate_json(answer.content)
    data = answer.json()["data"]
    assert data.pop("fileResourceId").startswith("frs_")
    assert data == {
        "fileName": "report.md",
        "mimeType": "text/markdown",
        "fileSize": 9,
        "sha256": "497b7725a00101d6cf82489ef502fb0918962b10aaa7279962ab5ec3edc62533",
        "expiresAt": "2031-05-07T07:08:09.000Z",
        "deduplicated": False,
        "documents": [],
    }


async def test_the_same_content_again_is_kept_once(gateway: Gateway) -> None:
    first = (await gateway.upload("one.txt", b"the same")).json()["data"]

    second = (await gateway.upload("two.txt", b"the same")).json()["data"]

    assert second["deduplicated"] is True
    assert second["fileName"] == "two.txt"
    assert second["fileResourceId"] != first["fileResourceId"]
    assert stored_objects(gateway) == 1


async def test_a_twin_of_somebody_else_in_the_tenant_is_kept_once_too(gateway: Gateway) -> None:
    await gateway.upload("one.txt", b"the same")

    assert (await gateway.upload("one.txt", b"the same", BOB)).json()["data"]["deduplicated"] is True


async def test_an_empty_file_is_refused(gateway: Gateway) -> None:
    error = checked_error(await gateway.upload("empty.txt", b""), 422, "KNOWLEDGE_INVALID_INPUT")

    assert error["message"] == "The file is empty."
    assert stored_objects(gateway) == 0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("report.pdf", b"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff" + b"\x00" * 200),
        ("report.pdf", b"\x7fELF\x02\x01\x01" + b"\x00" * 200),
        ("report.pdf", b"just text"),
    ],
)
async def test_a_renamed_executable_is_refused(gateway: Gateway, name: str, content: bytes) -> None:
    checked_error(await gateway.upload(name, content), 415, "FILE_TYPE_NOT_ALLOWED")

    assert stored_objects(gateway) == 0


async def test_an_archive_that_is_no_document_is_refused(gateway: Gateway) -> None:
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as writing:
        writing.writestr("a.txt", "a")

    checked_error(await gateway.upload("a.docx", archive.getvalue()), 415, "FILE_TYPE_NOT_ALLOWED")


async def test_a_name_is_only_a_name(gateway: Gateway) -> None:
    answer = await gateway.upload("../../etc/🎈 Bericht\u202e.txt", b"text")

    assert answer.json()["data"]["fileName"] == "🎈 Bericht.txt"
    assert stored_objects(gateway) == 1


async def test_a_name_may_come_in_the_extended_form(gateway: Gateway) -> None:
    headers = gateway.headers(x_file_name="UTF-8''" + quote("手册.txt"))

    answer = await gateway.http.post(FILES, headers=headers, content=b"text")

    assert answer.json()["data"]["fileName"] == "手册.txt"


@pytest.mark.parametrize("name", [None, "", "%FF", "..", "%2E%2E%2F", "a" * 5000, "%00"])
async def test_a_file_without_a_usable_name_is_refused(gateway: Gateway, name: str | None) -> None:
    answer = await gateway.http.post(FILES, headers=gateway.headers(x_file_name=name), content=b"text")

    checked_error(answer, 422, "KNOWLEDGE_INVALID_INPUT")


async def test_a_file_that_announces_too_much_is_refused_before_it_is_read(gateway: Gateway) -> None:
    taken: list[bytes] = []

    async def content() -> AsyncIterator[bytes]:
        taken.append(b"a")
        yield b"a"

    headers = gateway.headers(x_file_name="a.txt", content_length="1000001")
    answer = await gateway.http.post(FILES, headers=headers, content=content())

    checked_error(answer, 413, "FILE_TOO_LARGE")
    assert taken == []


async def test_a_file_that_goes_on_for_too_long_is_refused_and_not_kept(gateway: Gateway) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"a" * 65_536

    answer = await gateway.http.post(FILES, headers=gateway.headers(x_file_name="a.txt"), content=endless())

    checked_error(answer, 413, "FILE_TOO_LARGE")
    assert stored_objects(gateway) == 0


@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x", "application/x-www-form-urlencoded"])
async def test_a_form_around_a_file_is_not_taken_for_the_file(gateway: Gateway, kind: str) -> None:
    headers = gateway.headers(x_file_name="a.txt", content_type=kind)

    checked_error(await gateway.http.post(FILES, headers=headers, content=b"--x"), 415, "FILE_TYPE_NOT_ALLOWED")


async def test_a_file_expires_after_a_day(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    file = (await gateway.upload("a.txt", b"text")).json()["data"]["fileResourceId"]
    gateway.clock.move(timedelta(days=1))

    answer = await gateway.post(f"/spaces/{space_id}/documents", {"fileResourceId": file, "documentName": "A"})

    checked_error(answer, 404, "FILE_NOT_FOUND")


async def test_an_id_that_no_file_can_have_is_that_of_an_unknown_file(gateway: Gateway) -> None:
    segments = ("fil_none", "%00", "%FF", "x" * 257)
    answers = [await gateway.http.get(f"{FILES}/{segment}", headers=gateway.headers()) for segment in segments]

    errors = [checked_error(answer, 404, "FILE_NOT_FOUND") for answer in answers]

    assert errors == [errors[0]] * 4


async def test_a_client_that_hangs_up_leaves_nothing_behind(gateway: Gateway) -> None:
    headers = gateway.headers(x_file_name="a.txt")
    arriving: Iterator[dict[str, object]] = iter(
        [{"type": "http.request", "body": b"half", "more_body": True}, {"type": "http.disconnect"}]
    )
    sent: list[object] = []

    async def receive() -> dict[str, object]:
        return next(arriving)

    async def send(message: object) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": FILES,
        "raw_path": FILES.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    await gateway.app(scope, receive, send)

    assert sent == []
    assert stored_objects(gateway) == 0


@pytest.mark.parametrize(
    "content", [b"", b"\xef\xbb\xbf", b"\xff\xfe", b" ", b"\r\n\t \n", b"\xef\xbb\xbf \n", b"\xe3\x80\x80"]
)
async def test_a_file_with_nothing_in_it_is_refused_at_the_door(gateway: Gateway, content: bytes) -> None:
    error = checked_error(await gateway.upload("a.txt", content), 422, "KNOWLEDGE_INVALID_INPUT")

    assert [(fault["field"], fault["reason"]) for fault in error["fieldErrors"]] == [("file", "EMPTY")]
    assert stored_objects(gateway) == 0


@pytest.mark.parametrize("content", [b"a", b"\xef\xbb\xbfa", "是".encode()])
async def test_one_character_is_enough(gateway: Gateway, content: bytes) -> None:
    assert (await gateway.upload("a.txt", content)).status_code == 201


@pytest.mark.parametrize(
    ("name", "content", "status", "field", "reason"),
    [
        ("a.pdf", b"MZ\x90\x00" + bytes(200), 415, "file", "TYPE_NOT_ALLOWED"),
        ("a.pdf", b"only words", 415, "file", "TYPE_MISMATCH"),
        ("a.docx", b"PK\x03\x04" + bytes(40), 422, "file", "DAMAGED"),
        (
            "a.docx",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            415,
            "file",
            "ENCRYPTED",
        ),
        ("a.txt", b"a" * 1_000_001, 413, "file", "TOO_LARGE"),
        ("..", b"text", 422, "X-File-Name", "EMPTY"),
        ("a" * 256, b"text", 422, "X-File-Name", "TOO_LONG"),
        ("", b"text", 422, "X-File-Name", "MISSING"),
    ],
)
async def test_what_is_wrong_with_a_file_is_told_with_its_place_and_reason(
    gateway: Gateway, name: str, content: bytes, status: int, field: str, reason: str
) -> None:
    answer = await gateway.upload(name, content)

    assert answer.status_code == status
    faults = answer.json()["meta"]["error"]["fieldErrors"]
    assert [(fault["field"], fault["reason"]) for fault in faults] == [(field, reason)]
    assert stored_objects(gateway) == 0


async def test_a_form_is_told_apart_by_its_header(gateway: Gateway) -> None:
    headers = gateway.headers(x_file_name="a.txt", content_type="multipart/form-data; boundary=x")

    error = checked_error(await gateway.http.post(FILES, headers=headers, content=b"--x"), 415, "FILE_TYPE_NOT_ALLOWED")

    assert [fault["field"] for fault in error["fieldErrors"]] == ["Content-Type"]


@pytest.mark.parametrize("name", ['a"b;c.txt', "rosé & co.txt", "手册 🎈.txt", "..%2f..%2fetc.txt", "a'b`c$(d).txt"])
async def test_the_provider_sees_a_safe_name_and_readers_the_original(gateway: Gateway, name: str) -> None:
    space_id = await gateway.make_space()
    file = (await gateway.upload(name, b"text")).json()["data"]
    body = {"fileResourceId": file["fileResourceId"], "documentName": name}
    document_id = (await gateway.post(f"/spaces/{space_id}/documents", body)).json()["data"]["documentId"]
    await gateway.work()

    document = (await gateway.get(f"/documents/{document_id}")).json()["data"]
    version = document["activeVersion"]
    assert (document["name"], version["fileName"]) == (name, name)
    space = SpaceRef(space_id=SpaceId(space_id), profile=PROFILE)
    (native,) = await gateway.provider.list_documents(space)
    assert native.name == f"{version['versionId']}.txt"


@pytest.fixture
def small_disk(gateway: Gateway) -> Iterator[None]:
    """The object store has a disk of 256 KiB. Only root may make one."""
    mounted = subprocess.run(
        [MOUNT, "-t", "tmpfs", "-o", "size=256k", "none", str(gateway.objects)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("a disk of our own cannot be mounted here")
    yield
    subprocess.run([UNMOUNT, str(gateway.objects)], check=True)


@pytest.mark.usefixtures("small_disk")
async def test_a_full_store_is_told_as_such_and_keeps_nothing(gateway: Gateway) -> None:
    plain = await gateway.upload("a.txt", b"a" * 600_000)
    kept = stored_objects(gateway)
    small = await gateway.upload("b.txt", b"b" * 1000)

    error = checked_error(plain, 503, "KNOWLEDGE_PROVIDER_UNAVAILABLE")
    assert error["message"] == "The gateway's storage is full; nothing was kept of the file."
    assert [(fault["field"], fault["reason"]) for fault in error["fieldErrors"]] == [("storage", "STORAGE_FULL")]
    assert plain.headers["retry-after"] == "30"
    assert kept == 0
    assert small.status_code == 201
