"""The audit after a mixed run: every transition is in it, reads are counted or told, and no secret is."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from sqlalchemy import Connection

from shared.contracts.operating import AuditPage
from shared.database.database import Database, open_database
from shared.database.settings import DatabaseSettings
from shared.database.sql import run
from shared.lifecycle.seal_audit import seal_audit
from tests.integration.api.administrating import ROOT, admin_get, admin_post
from tests.integration.api.commanding import line
from tests.integration.api.harness import (
    BOB,
    FOREIGNER,
    KNOWLEDGE,
    READER,
    TOKEN,
    Gateway,
    User,
    checked_error,
    running_gateway,
    space_request,
)
from tests.integration.api.serving import served
from tests.integration.api.test_audit import written
from tests.support.eventually import until
from tests.support.transitions import untold_transitions

SECRET_TEXT = "The vault opens with seven turns to the left, and a night in the hotel is free."
AUDITOR = User(subject="odette", roles=("gateway-operator",))


def succeeded(answer: httpx.Response) -> None:
    assert answer.is_success, answer.text


async def version_of(gateway: Gateway, document_id: str) -> int:
    version: int = (await gateway.get(f"/documents/{document_id}")).json()["data"]["lockVersion"]
    return version


async def mixed_run(gateway: Gateway) -> list[str]:
    """A bit of everything; returns what no audit may hold."""
    secrets = [TOKEN, "seven turns", "key-of-the-replay"]
    space_id = await gateway.make_space()
    document_id = await gateway.make_document(space_id, content=SECRET_TEXT.encode())
    failing = await gateway.accept_document(space_id, "Cancelled")
    succeeded(await gateway.post(f"/operations/{failing['operationId']}:cancel", {"reason": "no need"}))
    await gateway.work()
    file = (await gateway.upload("new.txt", b"A newer text about the hotel.")).json()["data"]["fileResourceId"]
    hit = (await gateway.post("/search", {"query": "seven turns hotel"})).json()["data"]["hits"][0]
    succeeded(await gateway.get(f"/citations/{hit['citationId']}"))
    link = (await gateway.post(f"/documents/{document_id}:create-download-link", {})).json()["data"]["downloadUrl"]
    succeeded(await gateway.http.get(link.removeprefix("http://localhost:8080")))
    body: dict[str, object] = {"fileResourceId": file, "expectedVersion": await version_of(gateway, document_id)}
    succeeded(await gateway.post(f"/documents/{document_id}:replace", body))
    await gateway.work()
    body = {"expectedVersion": await version_of(gateway, document_id)}
    succeeded(await gateway.post(f"/documents/{document_id}:disable", body, key="key-of-the-replay"))
    succeeded(await gateway.post(f"/documents/{document_id}:disable", body, key="key-of-the-replay"))
    body = {"expectedVersion": await version_of(gateway, document_id), "reason": "out of date"}
    succeeded(await gateway.post(f"/documents/{document_id}:delete", body))
    await gateway.work()
    minted = (await admin_post(gateway, "/service-tokens", {"service": "loader"})).json()["data"]["token"]
    for user in (BOB, READER, FOREIGNER):
        await gateway.get(f"/spaces/{space_id}", user)
    headers = gateway.headers(authorization="Bearer a-guessed-service-token")
    await gateway.http.get(f"{KNOWLEDGE}/spaces", headers=headers)
    secrets += [headers["x-user-assertion"], headers["x-user-assertion"].rpartition(".")[2], "a-guessed-service-token"]
    return [*secrets, minted, minted.partition(".")[2], hit["citationId"], link.rpartition("/")[2]]


def everything(conn: Connection) -> list[dict[str, Any]]:
    return [dict(row) for row in run(conn, "SELECT * FROM audit_entry ORDER BY at, id").mappings().all()]


async def kept_in(database: Database) -> list[dict[str, Any]]:
    return await database.read(everything)


async def test_after_a_mixed_run_every_transition_is_told_and_no_secret_is(either: Gateway) -> None:
    secrets = await mixed_run(either)
    registry = either.parts.metrics.registry
    await until(lambda: registry.get_sample_value("knowgate_api_audit_waiting_entries") == 0)

    database = either.parts.database
    assert await database.read(untold_transitions) == []
    text = json.dumps(await kept_in(database), default=str, ensure_ascii=False)
    assert [secret for secret in secrets if secret in text] == []
    assert all(len(secret) > 8 for secret in secrets)


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE document SET status = 'DISABLED' WHERE status = 'ACTIVE'", "DOCUMENT"),
        ("UPDATE operation SET status = 'FAILED' WHERE type = 'SPACE_CREATE'", "OPERATION"),
        ("DELETE FROM document_tag", None),
    ],
)
async def test_a_transition_that_was_not_told_would_be_noticed(
    gateway: Gateway, statement: str, told: str | None
) -> None:
    await gateway.make_document(await gateway.make_space())
    await gateway.parts.database.write(lambda conn: run(conn, statement).rowcount)

    untold = await gateway.parts.database.read(untold_transitions)

    assert [one.partition(" ")[0] for one in untold] == ([] if told is None else [told])


async def test_reads_are_counted_by_subject_and_route_and_refused_callers_by_source_and_reason(
    migrated: Path, tmp_path: Path
) -> None:
    path = tmp_path / "knowgate.db"
    shutil.copy(migrated, path)
    settings = DatabaseSettings(url=SecretStr(f"sqlite:///{path}"))
    async with running_gateway(settings, tmp_path) as gateway:
        space_id = await gateway.make_space()
        for _ in range(3):
            await gateway.get("/spaces")
        await gateway.get(f"/spaces/{space_id}")
        await gateway.get("/spaces", BOB)
        await gateway.get(f"/spaces/{space_id}", BOB)
        for _ in range(2):
            headers = gateway.headers(authorization="Bearer nobody-knows-this-token")
            await gateway.http.get(f"{KNOWLEDGE}/spaces", headers=headers)
        await gateway.http.get(f"{KNOWLEDGE}/spaces")

    database = open_database(settings)
    rows = await kept_in(database)
    await database.close()
    counted = Counter(
        {
            (row["action"], row["outcome"], row["subject"] or details["reason"]): details["count"]
            for row in rows
            if "count" in (details := json.loads(row["details"]))
        }
    )
    assert counted == {
        ("knowledge_space_list", "done", "alice"): 3,
        ("knowledge_space_list", "done", "bob"): 1,
        ("knowledge_space_get", "done", "alice"): 1,
        ("authentication", "refused", "service_token_unknown"): 2,
        ("authentication", "refused", "header_malformed"): 1,
    }
    refused = next(row for row in rows if row["action"] == "authentication")
    assert (refused["tenant_id"], json.loads(refused["details"])["source"]) == (None, "127.0.0.1")
    assert [row["outcome"] for row in rows if row["subject"] == "bob" and row["resource_id"]] == ["denied"]


async def sealed(gateway: Gateway) -> None:
    await gateway.parts.database.write(lambda conn: seal_audit(conn, gateway.clock(), limit=500).entries)


async def test_whoever_may_view_the_audit_reads_it_in_the_order_of_the_chain(either: Gateway) -> None:
    await either.post("/spaces", space_request())
    await either.post("/spaces", space_request("another"))
    await either.post("/spaces", space_request("other"), FOREIGNER)
    await sealed(either)

    answer = await admin_get(either, "/audit", AUDITOR, limit=2)

    page = AuditPage.model_validate_json(json.dumps(answer.json()["data"]))
    assert [entry.seq for entry in page.entries] == [1, 2]
    assert page.last_seq > 2
    first = page.entries[0]
    assert (first.subject, first.prev_hash, first.session_id) == ("alice", "", "session-1")
    rest = AuditPage.model_validate_json(
        json.dumps((await admin_get(either, "/audit", AUDITOR, after=2)).json()["data"])
    )
    assert [entry.seq for entry in rest.entries] == list(range(3, page.last_seq + 1))
    latest = (await admin_get(either, "/audit", AUDITOR, limit=1, latest="true")).json()["data"]["entries"]
    assert [entry["seq"] for entry in latest] == [page.last_seq]
    assert {entry.subject for entry in (*page.entries, *rest.entries)} == {"alice"}


async def test_reading_the_audit_is_written_to_it(gateway: Gateway) -> None:
    await admin_get(gateway, "/audit", AUDITOR)

    (entry,) = await written(gateway, "admin_audit_read")

    assert (entry["subject"], entry["outcome"], entry["details"]) == ("odette", "done", '{"after":0,"entries":0}')


async def test_the_audit_is_shown_to_nobody_else(gateway: Gateway) -> None:
    checked_error(await admin_get(gateway, "/audit", User(subject="alice")), 403, "KNOWLEDGE_FORBIDDEN")


async def test_the_command_line_shows_the_end_of_the_audit_and_takes_all_of_it_away(
    gateway: Gateway, tmp_path: Path
) -> None:
    for number in range(4):
        await gateway.post("/spaces", space_request(f"space-{number}"))
    await sealed(gateway)
    last = (await admin_get(gateway, "/audit", ROOT, latest="true", limit=1)).json()["data"]["lastSeq"]
    output = tmp_path / "audit.jsonl"
    async with served(gateway) as address:
        cli = line(gateway, address)
        shown = await cli.done("audit", "tail", "--lines", "3")
        await cli.done("audit", "export", "--output", str(output), "--after", "2")

    assert [int(one.split()[0]) for one in shown.splitlines()] == [last - 2, last - 1, last]
    assert "alice" in shown
    exported = [json.loads(one) for one in output.read_text().splitlines()]
    assert [one["seq"] for one in exported] == list(range(3, last + 1))
    assert [one["prevHash"] for one in exported[1:]] == [one["hash"] for one in exported[:-1]]
    assert not output.with_name(".audit.jsonl.draft").exists()
