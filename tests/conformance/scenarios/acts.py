"""What scenarios do again and again: make a space, bring a document, wait for an end."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from tests.conformance.answers import Json
from tests.conformance.client import Client, expect

Value = TypeVar("Value")

WAITS_WITHIN: Final = 60.0
LOOKS_EVERY: Final = 0.05
ENDS: Final = frozenset({"SUCCEEDED", "FAILED", "CANCELLED"})
PROFILE: Final = "enterprise-long-document"
TEXT: Final = b"# Ferry\n\n## Departures\n\nThe ferry to the northern island leaves at seven in the morning.\n"


async def until(look: Callable[[], Awaitable[Value]], is_so: Callable[[Value], bool], what: str) -> Value:
    """Look again and again until it is so; Broken when that takes too long."""
    deadline = time.monotonic() + WAITS_WITHIN
    while not is_so(seen := await look()):
        expect(time.monotonic() < deadline, f"waited in vain for {what}; the last look gave {seen}")
        await asyncio.sleep(LOOKS_EVERY)
    return seen


def space_request(code: str | None = None, **changed: Json) -> dict[str, Json]:
    """What makes a space."""
    return {
        "code": code or f"space-{secrets.token_hex(4)}",
        "name": "A space",
        "profileCode": PROFILE,
        "defaultSecurityDomainCode": "general",
    } | changed


async def new_space(client: Client, **changed: Json) -> str:
    """A space that is ACTIVE."""
    created = await client.ask("space_create", body=space_request(**changed))
    space_id = str(created["spaceId"])
    await space_in(client, space_id, "ACTIVE")
    return space_id


async def space_in(client: Client, space_id: str, status: str) -> Json:
    """The space once it has that status."""
    return await until(
        lambda: client.ask("space_get", space_id), lambda space: bool(space["status"] == status), f"a space {status}"
    )


async def new_file(client: Client, name: str = "ferry.md", content: bytes | None = None) -> str:
    """The resource of a file that was brought; its content is one of a kind unless it is given."""
    answer = await client.upload(name, TEXT + secrets.token_hex(8).encode() if content is None else content)
    expect(answer.is_success, f"the file was answered {answer.status} {answer.code}")
    return str(answer.data["fileResourceId"])


async def submit(
    client: Client, space_id: str, name: str = "ferry.md", content: bytes | None = None, **changed: Json
) -> Json:
    """A document that was taken on: its id and its operation's."""
    resource = await new_file(client, name, content)
    body = {"fileResourceId": resource, "documentName": name} | changed
    return await client.ask("document_upload", space_id, body=body)


async def new_document(
    client: Client, space_id: str, name: str = "ferry.md", content: bytes | None = None, **changed: Json
) -> str:
    """A document that is ACTIVE."""
    accepted = await submit(client, space_id, name, content, **changed)
    ended = await end_of(client, accepted["operationId"])
    expect(ended["status"] == "SUCCEEDED", f"the upload ended {ended}")
    return str(accepted["documentId"])


async def replace(client: Client, document_id: str, name: str = "ferry.md", content: bytes | None = None) -> Json:
    """A replacement that was taken on."""
    body = {"fileResourceId": await new_file(client, name, content), "expectedVersion": await lock(client, document_id)}
    return await client.ask("document_replace", document_id, body=body)


async def lock(client: Client, document_id: str) -> int:
    """What a change of the document must name."""
    return int((await client.ask("document_get", document_id))["lockVersion"])


async def end_of(client: Client, operation_id: str) -> Json:
    """The operation once it has ended."""
    return await until(
        lambda: client.ask("operation_get", operation_id),
        lambda operation: operation["status"] in ENDS,
        "an operation's end",
    )


async def hits(client: Client, query: str, **narrowed: Json) -> list[Json]:
    """What a search finds."""
    found: list[Json] = (await client.ask("search", body={"query": query} | narrowed))["hits"]
    return found
