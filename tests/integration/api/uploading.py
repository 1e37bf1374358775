"""Speaks the protocol of resumable uploads, and looks at what it leaves behind."""

import base64
from collections.abc import AsyncIterator
from datetime import timedelta

import httpx
from sqlalchemy import Connection

from shared.contracts.ids import FileResourceId, SubjectId, TenantId, UploadId
from shared.contracts.uploads import OFFSET_BYTES, UPLOADS
from shared.database.files import load_resource
from shared.database.sql import run
from shared.database.uploads import UploadPart, load_upload
from shared.lifecycle.resumable_upload import extend_upload
from tests.integration.api.harness import ALICE, Gateway, User
from tests.support.streams import collect, stream

TEXT = b"The night train leaves at ten. " * 40


def stored_objects(gateway: Gateway) -> int:
    """How many objects the store holds."""
    return sum(1 for path in gateway.objects.rglob("*") if path.is_file())


def metadata(name: str) -> str:
    """What tells a file's name."""
    return f"filetype dGV4dA==,filename {base64.b64encode(name.encode()).decode()}"


async def begin(
    gateway: Gateway, name: str = "train.txt", length: int = len(TEXT), user: User = ALICE, /, **changed: str | None
) -> httpx.Response:
    """Announce an upload."""
    headers = {"tus_resumable": "1.0.0", "upload_length": str(length), "upload_metadata": metadata(name)}
    return await gateway.http.post(UPLOADS, headers=gateway.headers(user, **{**headers, **changed}))


async def begun(gateway: Gateway, name: str = "train.txt", length: int = len(TEXT)) -> str:
    """The path of an upload that was announced."""
    answer = await begin(gateway, name, length)
    assert answer.status_code == 201, answer.text
    return answer.headers["location"]


async def send(
    gateway: Gateway,
    path: str,
    offset: int,
    content: bytes | AsyncIterator[bytes],
    user: User = ALICE,
    /,
    **changed: str,
) -> httpx.Response:
    """Send bytes from `offset` on."""
    headers = {"tus_resumable": "1.0.0", "upload_offset": str(offset), "content_type": OFFSET_BYTES, **changed}
    return await gateway.http.patch(path, headers=gateway.headers(user, **headers), content=content)


async def look(gateway: Gateway, path: str, user: User = ALICE) -> httpx.Response:
    """Ask how far an upload has come."""
    return await gateway.http.head(path, headers=gateway.headers(user, tus_resumable="1.0.0"))


async def end(gateway: Gateway, path: str, user: User = ALICE) -> httpx.Response:
    """Give an upload up."""
    return await gateway.http.delete(path, headers=gateway.headers(user, tus_resumable="1.0.0"))


async def content_of(gateway: Gateway, resource_id: str) -> bytes:
    """The bytes of a file that is alice's."""

    def find(conn: Connection) -> str:
        found = load_resource(conn, TenantId("acme"), SubjectId("alice"), FileResourceId(resource_id), gateway.clock())
        assert found is not None
        return found[1].object_key

    key = await gateway.parts.database.write(find)
    return await collect(gateway.parts.store.get_stream(key))


async def rows(gateway: Gateway) -> tuple[int, int]:
    """How many uploads and parts there are."""
    return await gateway.parts.database.read(
        lambda conn: (
            run(conn, "SELECT count(*) FROM upload").scalar_one(),
            run(conn, "SELECT count(*) FROM upload_part").scalar_one(),
        )
    )


async def whole_but_unfinished(gateway: Gateway) -> str:
    """An upload as a process leaves it that is killed after the last byte was stored."""
    path = await begun(gateway)
    upload_id = UploadId(path.rpartition("/")[2])
    await gateway.parts.store.put_stream("objects/00/left-behind", stream(TEXT), limit=len(TEXT))
    part = UploadPart(upload_id=upload_id, starts_at=0, size=len(TEXT), object_key="objects/00/left-behind")

    def leave(conn: Connection) -> None:
        upload = load_upload(conn, TenantId("acme"), SubjectId("alice"), upload_id, gateway.clock())
        assert upload is not None
        extend_upload(conn, upload, [part], timedelta(hours=1), gateway.parts.around)

    await gateway.parts.database.write(leave)
    return path
