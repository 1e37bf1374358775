"""What the api writes to the audit: reads and denials, with who, in which session, call and request."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from sqlalchemy import Connection

from shared.database.database import open_database
from shared.database.settings import DatabaseSettings
from tests.integration.api.harness import BOB, Gateway, running_gateway, space_request

COLUMNS = (
    "action",
    "outcome",
    "service",
    "subject",
    "session_id",
    "tool_call_id",
    "request_id",
    "resource_type",
    "resource_id",
    "details",
)


def entries(conn: Connection, action: str) -> list[dict[str, Any]]:
    text = f"SELECT {', '.join(COLUMNS)} FROM audit_entry WHERE action = :action ORDER BY at, id"  # noqa: S608
    return [dict(zip(COLUMNS, row, strict=True)) for row in conn.exec_driver_sql(text, {"action": action})]


async def written(gateway: Gateway, action: str) -> list[dict[str, Any]]:
    """The entries about an action, once there are any."""
    for _ in range(100):
        found = await gateway.parts.database.read(lambda conn: entries(conn, action))
        if found:
            return found
        await asyncio.sleep(0.02)
    raise AssertionError(f"nothing was written about {action}")


async def test_a_search_is_written_with_what_it_showed(gateway: Gateway) -> None:
    document_id = await gateway.make_document(await gateway.make_space())
    headers = gateway.headers(x_tool_call_id="call-s", x_request_id="request-s")

    await gateway.http.post("/internal/v1/knowledge/search", headers=headers, json={"query": "hotel"})

    assert await written(gateway, "knowledge_search") == [
        {
            "action": "knowledge_search",
            "outcome": "done",
            "service": "harness",
            "subject": "alice",
            "session_id": "session-1",
            "tool_call_id": "call-s",
            "request_id": "request-s",
            "resource_type": None,
            "resource_id": None,
            "details": f'{{"hits":1,"documents":"{document_id}"}}',
        }
    ]


async def test_a_denial_is_written_with_what_it_was_about(gateway: Gateway) -> None:
    space_id = await gateway.make_space()

    await gateway.get(f"/spaces/{space_id}", BOB)

    (entry,) = await written(gateway, "knowledge_space_get")
    assert (entry["outcome"], entry["subject"]) == ("denied", "bob")
    assert (entry["resource_type"], entry["resource_id"]) == ("SPACE", space_id)
    assert entry["details"] == '{"code":"SPACE_NOT_FOUND"}'


async def test_a_link_and_its_use_are_written_and_the_link_itself_is_not(gateway: Gateway) -> None:
    document_id = await gateway.make_document(await gateway.make_space())
    answer = await gateway.post(f"/documents/{document_id}:create-download-link", {})
    path = answer.json()["data"]["downloadUrl"].removeprefix("http://localhost:8080")
    await gateway.http.get(path)

    (made,) = await written(gateway, "knowledge_document_download")
    (used,) = await written(gateway, "download_fetch")

    assert (made["resource_id"], used["resource_id"]) == (document_id, document_id)
    assert used["subject"] == "alice"
    assert path.removeprefix("/downloads/") not in str([made, used])


async def test_a_replay_is_written(gateway: Gateway) -> None:
    await gateway.post("/spaces", space_request(), key="again")
    await gateway.post("/spaces", space_request(), key="again")

    (entry,) = await written(gateway, "knowledge_space_create")

    assert entry["outcome"] == "replayed"


async def test_nothing_is_lost_in_a_graceful_stop(migrated: Path, tmp_path: Path) -> None:
    path = tmp_path / "knowgate.db"
    shutil.copy(migrated, path)
    settings = DatabaseSettings(url=SecretStr(f"sqlite:///{path}"))
    async with running_gateway(settings, tmp_path) as gateway:
        for _ in range(30):
            await gateway.post("/search", {"query": "anything"})

    database = open_database(settings)
    found = await database.read(lambda conn: entries(conn, "knowledge_search"))
    await database.close()
    assert len(found) == 30
