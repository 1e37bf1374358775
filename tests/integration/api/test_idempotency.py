"""A request with an idempotency key takes effect once, on both databases, however many come at once."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import Connection

from shared.contracts.ids import SpaceId, TenantId
from shared.database.grants import delete_grants, list_grants
from shared.database.migrate import upgrade
from shared.database.settings import DatabaseSettings
from shared.telemetry.stamps import new_id
from tests.integration.api.harness import ALICE, BOB, READER, Gateway, checked_error, running_gateway, space_request
from tests.support.postgres import LocalPostgres

TEMPLATE = "knowgate_api_template"


@pytest.fixture(scope="module")
def template(postgres: LocalPostgres) -> str:
    """The name of an empty PostgreSQL database with every table."""
    upgrade(DatabaseSettings(url=SecretStr(postgres.create_database(TEMPLATE))))
    return TEMPLATE


@pytest.fixture(params=["sqlite", "postgresql"])
async def either(request: pytest.FixtureRequest, migrated: Path, tmp_path: Path) -> AsyncIterator[Gateway]:
    """The api on a fresh SQLite database, then on a fresh PostgreSQL database."""
    if request.param == "sqlite":
        path = tmp_path / "knowgate.db"
        shutil.copy(migrated, path)
        url = f"sqlite:///{path}"
    else:
        postgres: LocalPostgres = request.getfixturevalue("postgres")
        template: str = request.getfixturevalue("template")
        url = postgres.create_database(new_id("api"), template=template)
    async with running_gateway(DatabaseSettings(url=SecretStr(url), readers=2), tmp_path) as running:
        yield running


async def test_the_same_request_again_gets_the_same_answer_and_makes_nothing_new(either: Gateway) -> None:
    first = await either.post("/spaces", space_request("again"), key="again-1")

    second = await either.post("/spaces", space_request("again"), key="again-1")

    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json()["data"] == first.json()["data"]
    assert second.json()["meta"]["requestId"] != first.json()["meta"]["requestId"]
    assert "x-idempotent-replay" not in first.headers
    assert second.headers["x-idempotent-replay"] == "true"


async def test_another_request_with_the_key_is_a_conflict(either: Gateway) -> None:
    await either.post("/spaces", space_request("one"), key="other-1")

    answer = await either.post("/spaces", space_request("two"), key="other-1")

    error = checked_error(answer, 409, "KNOWLEDGE_CONFLICT")
    assert error["fieldErrors"][0]["field"] == "Idempotency-Key"


async def test_the_way_a_request_is_written_does_not_make_it_another_one(either: Gateway) -> None:
    body = space_request("written")
    first = await either.post("/spaces", body, key="written-1")

    second = await either.post("/spaces", dict(reversed(body.items())), key="written-1")

    assert second.json()["data"] == first.json()["data"]


async def test_a_key_is_its_owners_and_its_routes(either: Gateway) -> None:
    space_id = await either.make_space("owner")
    assert (await either.post("/spaces", space_request("owner-2"), key="shared-1")).status_code == 201

    assert (await either.post("/spaces", space_request("owner-3"), BOB, key="shared-1")).status_code == 201
    file = (await either.upload("a.txt", b"text of the owner")).json()["data"]["fileResourceId"]
    body = {"fileResourceId": file, "documentName": "A"}
    assert (await either.post(f"/spaces/{space_id}/documents", body, key="shared-1")).status_code == 202


async def test_a_request_that_was_refused_leaves_its_key_free(either: Gateway) -> None:
    refused = await either.post("/spaces", space_request("free", domain="secret"), key="free-1")
    assert refused.status_code == 403

    assert (await either.post("/spaces", space_request("free"), key="free-1")).status_code == 201


async def test_a_key_is_free_again_after_a_week(either: Gateway) -> None:
    await either.post("/spaces", space_request("week-1"), key="week")
    either.clock.move(timedelta(days=7))

    assert (await either.post("/spaces", space_request("week-2"), key="week")).status_code == 201


async def test_of_twenty_equal_creations_at_once_one_is_made_and_all_get_its_answer(either: Gateway) -> None:
    answers = await asyncio.gather(
        *(either.post("/spaces", space_request("race"), key="race-space") for _ in range(20))
    )

    assert [answer.status_code for answer in answers] == [201] * 20
    assert len({answer.json()["data"]["spaceId"] for answer in answers}) == 1
    assert sum("x-idempotent-replay" in answer.headers for answer in answers) == 19


async def test_of_twenty_equal_replacements_at_once_one_is_made_and_all_get_its_answer(either: Gateway) -> None:
    document_id = await either.make_document(await either.make_space("race-replace"))
    file = (await either.upload("new.txt", b"new text")).json()["data"]["fileResourceId"]
    body = {"fileResourceId": file, "expectedVersion": 1}

    answers = await asyncio.gather(
        *(either.post(f"/documents/{document_id}:replace", body, key="race-replace") for _ in range(20))
    )

    assert [answer.status_code for answer in answers] == [202] * 20
    assert len({answer.json()["data"]["operationId"] for answer in answers}) == 1
    detail = (await either.get(f"/documents/{document_id}")).json()["data"]
    assert detail["candidateVersion"]["versionNo"] == 2


async def test_of_twenty_different_creations_of_one_code_one_is_made(either: Gateway) -> None:
    answers = await asyncio.gather(*(either.post("/spaces", space_request("contended")) for _ in range(20)))

    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 19


async def test_an_answer_is_repeated_only_to_those_who_may_still_see_it(either: Gateway) -> None:
    space_id = await either.make_space("seen")
    file = (await either.upload("a.txt", b"text that is seen")).json()["data"]["fileResourceId"]
    body = {"fileResourceId": file, "documentName": "A"}
    path = f"/spaces/{space_id}/documents"
    assert (await either.post(path, body, key="seen-1")).status_code == 202

    less = replace(READER, subject=ALICE.subject)
    checked_error(await either.post(path, body, less, key="seen-1"), 403, "KNOWLEDGE_FORBIDDEN")

    def revoke(conn: Connection) -> None:
        delete_grants(conn, list_grants(conn, TenantId(ALICE.tenant), SpaceId(space_id)))

    await either.parts.database.write(revoke)
    checked_error(await either.post(path, body, key="seen-1"), 404, "DOCUMENT_NOT_FOUND")


async def test_a_token_that_was_renewed_repeats_the_answer_too(either: Gateway) -> None:
    first = await either.post("/spaces", space_request("renewed"), key="renewed-1")
    either.clock.move(timedelta(minutes=9))

    second = await either.post("/spaces", space_request("renewed"), key="renewed-1")

    assert second.json()["data"] == first.json()["data"]
