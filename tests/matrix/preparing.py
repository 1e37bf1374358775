"""Makes the things that the matrix asks for."""

from collections.abc import Mapping
from urllib.parse import urlsplit

import httpx
from sqlalchemy import Connection

from shared.contracts.admin_route import ADMIN_PREFIX
from shared.contracts.enums import FailureReason, LetterKind, LetterStatus
from shared.contracts.ids import LetterId, TenantId
from shared.contracts.uploads import TUS_VERSION, UPLOADS
from shared.database.dead_letters import DeadLetter, insert_dead_letters
from shared.database.sql import run
from shared.providers.scripted.script import Script
from shared.telemetry.stamps import new_id
from tests.integration.api.harness import Gateway, User
from tests.matrix.people import Relation, Role, caller

OWNER = User(subject="olga", roles=(Role.GATEWAY_ADMIN.value,), domains=("general", "secret"), session="matrix")
"""Who has made it all."""
GRACE = caller(Role.ADMIN, Relation.GRANTED_TO_USER)
STRANGER = User(subject="grace", tenant="globex", roles=(Role.ADMIN.value,), session="matrix")
"""Who has a space of their own in the other tenant."""
WORDS = "A night in a hotel costs 120 euros at most."
QUERY = "hotel night"


async def make_document(gateway: Gateway, space: str, name: str) -> tuple[str, str]:
    """A document that is ACTIVE, and the operation that made it."""
    accepted = await gateway.accept_document(space, name, text_of(name), OWNER)
    await gateway.work()
    return accepted["documentId"], accepted["operationId"]


def text_of(name: str) -> bytes:
    """What a file says."""
    return f"About {name}.\n\n{WORDS}".encode()


async def make_failed(gateway: Gateway, space: str, name: str) -> tuple[str, str]:
    """A document whose making has failed, but might be tried again."""
    gateway.provider.tell(f"{name}.txt", Script(rejects=FailureReason.FILE_ENCRYPTED))
    document, operation = await make_document(gateway, space, name)

    def may_be_retried(conn: Connection) -> None:
        run(conn, "UPDATE operation SET is_retryable = true WHERE id = :operation", operation=operation)

    await gateway.parts.database.write(may_be_retried)
    return document, operation


async def delete(gateway: Gateway, path: str, version: int) -> None:
    """Delete a space or a document, to the end."""
    answer = await gateway.post(f"{path}:delete", {"expectedVersion": version, "reason": "over"}, OWNER)
    assert answer.status_code == 202, answer.text
    await gateway.work()


async def make_link(gateway: Gateway, document: str, user: User) -> str:
    """The path of a link to the document's file, made for the user."""
    answer = await gateway.post(f"/documents/{document}:create-download-link", {}, user)
    assert answer.status_code == 200, answer.text
    return urlsplit(str(answer.json()["data"]["downloadUrl"])).path


async def begin_upload(gateway: Gateway, user: User) -> str:
    """A resumable upload of six bytes."""
    headers = gateway.headers(user, tus_resumable=TUS_VERSION, upload_length="6", upload_metadata="filename YS50eHQ=")
    answer = await gateway.http.post(UPLOADS, headers=headers)
    assert answer.status_code == 201, answer.text
    return str(answer.headers["location"]).rpartition("/")[2]


async def end_upload(gateway: Gateway, upload: str, user: User) -> httpx.Response:
    """End it."""
    return await gateway.http.delete(f"{UPLOADS}/{upload}", headers=gateway.headers(user, tus_resumable=TUS_VERSION))


async def bring_file(gateway: Gateway, name: str) -> str:
    """A file of the user that the space is granted to."""
    answer = await gateway.upload(f"{name}.txt", text_of(name), GRACE)
    return str(answer.json()["data"]["fileResourceId"])


async def expire(gateway: Gateway, file: str) -> None:
    """Let a file's time be over."""

    def past(conn: Connection) -> None:
        run(conn, "UPDATE file_resource SET expires_at = created_at WHERE id = :file", file=file)

    await gateway.parts.database.write(past)


async def administer(gateway: Gateway, method: str, path: str, body: Mapping[str, object]) -> httpx.Response:
    """A change of the admin API by the owner of it all."""
    headers = gateway.headers(OWNER, idempotency_key=new_id("key"))
    answer = await gateway.http.request(method, ADMIN_PREFIX + path, headers=headers, json=body)
    assert answer.is_success, answer.text
    return answer


async def make_account(gateway: Gateway, name: str) -> str:
    """An account that is managed here."""
    memberships = {"groups": [], "roles": [Role.READER.value], "domains": ["general"]}
    await administer(gateway, "PUT", f"/accounts/{name}", memberships)
    return name


async def make_letters(gateway: Gateway) -> tuple[str, str]:
    """A dead letter of the tenant that nobody has settled, and one that is discarded; an event each."""
    letters = [
        DeadLetter(
            id=LetterId(new_id("ltr")),
            tenant_id=TenantId(OWNER.tenant),
            kind=LetterKind.EVENT,
            status=status,
            owner_id="",
            subject="knowgate.event.failed.nobody",
            body=b"{}",
            error="It could not be read.",
            created_at=gateway.clock(),
        )
        for status in (LetterStatus.OPEN, LetterStatus.DISCARDED)
    ]
    await gateway.parts.database.write(lambda conn: insert_dead_letters(conn, letters))
    return letters[0].id, letters[1].id


async def make_reconciliation(gateway: Gateway) -> str:
    """A reconciliation's id."""
    answer = await administer(gateway, "POST", "/reconciliations", {})
    return str(answer.json()["data"]["reconciliationId"])


async def make_token(gateway: Gateway) -> str:
    """A service token's id."""
    answer = await administer(gateway, "POST", "/service-tokens", {"service": "robot"})
    return str(answer.json()["data"]["tokenId"])


async def making_of(gateway: Gateway, space: str) -> str:
    """The operation that made the space; the answer to its creation does not name it."""

    def read(conn: Connection) -> str:
        text = "SELECT id FROM operation WHERE resource_id = :space AND type = 'SPACE_CREATE'"
        return str(run(conn, text, space=space).scalar_one())

    return await gateway.parts.database.read(read)


async def cite(gateway: Gateway, document: str) -> str:
    """A citation of the document."""
    answer = await gateway.post("/search", {"query": QUERY, "documentIds": [document]}, OWNER)
    return str(answer.json()["data"]["hits"][0]["citationId"])
