"""A request with an idempotency key takes effect once, on both databases, however many come at once."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import Connection

from shared.contracts.ids import SpaceId, TenantId
from shared.database.grants import delete_grants, list_grants
from tests.integration.api.harness import ALICE, BOB, READER, Gateway, checked_error, space_request


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


async def test_fifty_rounds_of_twenty_equal_uploads_make_fifty_operations_and_a_thousand_equal_answers(
    either: Gateway,
) -> None:
    space_id = await either.make_space("rounds")
    before = await operations(either)
    answered = []
    for number in range(50):
        file = (await either.upload("a.txt", f"text of round {number}".encode())).json()["data"]["fileResourceId"]
        body = {"fileResourceId": file, "documentName": f"Round {number}"}
        path, key = f"/spaces/{space_id}/documents", f"round-{number}"
        answers = await asyncio.gather(*(either.post(path, body, key=key) for _ in range(20)))
        assert [answer.status_code for answer in answers] == [202] * 20
        answered.append({json.dumps(answer.json()["data"]) for answer in answers})

    assert [len(different) for different in answered] == [1] * 50
    assert len({json.loads(one)["operationId"] for (one,) in answered}) == 50
    assert await operations(either) - before == 50


async def test_of_two_changes_made_from_one_reading_the_second_is_refused(either: Gateway) -> None:
    document_id = await either.make_document(await either.make_space("lost-update"))
    path = f"/documents/{document_id}"

    answers = await asyncio.gather(
        *(either.post(path, {"expectedVersion": 1, "name": name}, method="PATCH") for name in ("One", "Two"))
    )

    assert sorted(answer.status_code for answer in answers) == [200, 409]
    (kept,) = (answer.json()["data"]["name"] for answer in answers if answer.status_code == 200)
    (refused,) = (answer for answer in answers if answer.status_code == 409)
    checked_error(refused, 409, "DOCUMENT_VERSION_CONFLICT")
    detail = (await either.get(path)).json()["data"]
    assert (detail["name"], detail["lockVersion"]) == (kept, 2)


async def test_of_twenty_different_replacements_from_one_reading_one_gets_the_slot(either: Gateway) -> None:
    document_id = await either.make_document(await either.make_space("one-slot"))
    files = [(await either.upload("n.txt", f"new {n}".encode())).json()["data"]["fileResourceId"] for n in range(20)]

    answers = await asyncio.gather(
        *(
            either.post(f"/documents/{document_id}:replace", {"fileResourceId": file, "expectedVersion": 1})
            for file in files
        )
    )

    assert sorted(answer.status_code for answer in answers) == [202] + [409] * 19
    assert (await either.get(f"/documents/{document_id}")).json()["data"]["candidateVersion"]["versionNo"] == 2


async def operations(gateway: Gateway) -> int:
    """How many operations there are."""
    return await gateway.parts.database.read(
        lambda conn: int(conn.exec_driver_sql("SELECT count(*) FROM operation").scalar_one())
    )


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
