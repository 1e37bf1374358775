"""The operators' API: why work has not ended, ending it, dead letters, reconciliations; on both databases."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import Connection

from shared.contracts.enums import LetterKind, LetterStatus, Step
from shared.contracts.ids import LetterId, TenantId
from shared.database.dead_letters import DeadLetter, insert_dead_letters
from shared.database.sql import run
from shared.domain.unfinished import LiveWorkers
from shared.telemetry.stamps import new_id
from tests.integration.api.administrating import ADMIN, admin_get, admin_post
from tests.integration.api.harness import START, Gateway, User, checked_error
from tests.integration.api.test_operation_changes import publish

OPERATOR = User(subject="otto", roles=("gateway-operator",))
MAINTAINER = User(subject="otto", roles=("knowledge-admin",))
SYSTEM = User(subject="sys", roles=("system-operator",))
FOREIGN = User(subject="otto", tenant="globex", roles=("gateway-operator",))
SECRET = User(subject="otto", roles=("gateway-operator",), domains=("secret",))
REASON = {"reason": "It has been stuck since Monday."}
BUSY = LiveWorkers(
    is_known=True, slots=dict.fromkeys(Step, 1), hands={"op_x.upload.1.1": "w-1", "op_y.ingest.1.1": "w-1"}
)
NOBODY = LiveWorkers(is_known=True, slots={}, hands={})


async def accepted(either: Gateway) -> str:
    """An upload that nobody has taken yet."""
    space = await either.make_space(user=MAINTAINER)
    return (await either.accept_document(space, user=MAINTAINER))["operationId"]


async def reason_of(gateway: Gateway, operation_id: str) -> tuple[str, str]:
    answer = await admin_get(gateway, f"/operations/{operation_id}", OPERATOR)
    assert answer.status_code == 200, answer.text
    data = answer.json()["data"]
    return data["reason"], data["explanation"]


async def test_an_operation_that_has_not_ended_is_explained(either: Gateway) -> None:
    operation_id = await accepted(either)

    either.workforce.workers = NOBODY
    assert (await reason_of(either, operation_id))[0] == "NO_WORKER"
    either.workforce.workers = BUSY
    assert (await reason_of(either, operation_id))[0] == "STARVED"
    command = f"{operation_id}.upload.1.1"
    either.workforce.workers = replace(BUSY, hands={command: "w-7"})
    reason, explanation = await reason_of(either, operation_id)
    assert reason == "WORKING"
    assert "w-7" in explanation
    either.workforce.workers = replace(BUSY, hands={})
    await publish(either, operation_id)
    either.clock.move(timedelta(minutes=5))
    reason, explanation = await reason_of(either, operation_id)
    assert reason == "STUCK"
    assert "fail the operation" in explanation


async def test_only_what_is_overdue_is_listed_when_that_is_asked_for(either: Gateway) -> None:
    space = await either.make_space(user=MAINTAINER)
    old = (await either.accept_document(space, "Old", user=MAINTAINER))["operationId"]
    either.clock.move(timedelta(minutes=20))
    young = (await either.accept_document(space, user=MAINTAINER))["operationId"]

    def listed(answer_items: list[dict[str, dict[str, str]]]) -> list[str]:
        return [item["operation"]["operationId"] for item in answer_items]

    everything = (await admin_get(either, "/operations", OPERATOR)).json()
    overdue = (await admin_get(either, "/operations", OPERATOR, overdue="true")).json()
    sooner = (await admin_get(either, "/operations", OPERATOR, overdue="true", olderThanSeconds=1200)).json()

    assert listed(everything["data"]["items"]) == [old, young]
    assert everything["meta"]["pagination"]["totalItems"] == 2
    assert listed(overdue["data"]["items"]) == [old]
    assert overdue["data"]["items"][0]["overdue"] is True
    assert listed(sooner["data"]["items"]) == []


async def test_an_operator_ends_what_is_stuck_and_it_can_be_retried(either: Gateway) -> None:
    operation_id = await accepted(either)
    await publish(either, operation_id)

    failed = await admin_post(either, f"/operations/{operation_id}:fail", REASON, OPERATOR, key="once")
    again = await admin_post(either, f"/operations/{operation_id}:fail", REASON, OPERATOR, key="once")
    other = await admin_post(either, f"/operations/{operation_id}:fail", REASON, OPERATOR)

    assert failed.status_code == 200, failed.text
    data = failed.json()["data"]
    assert (data["status"], data["retryable"], data["retryCount"]) == ("FAILED", True, 0)
    assert again.json()["data"] == data
    assert again.headers["x-idempotent-replay"] == "true"
    assert "FAILED" in checked_error(other, 409, "KNOWLEDGE_CONFLICT")["message"]
    assert (await admin_get(either, f"/operations/{operation_id}", OPERATOR)).status_code == 404
    retried = await either.post(f"/operations/{operation_id}:retry", {"reason": "again"}, MAINTAINER)
    assert retried.status_code == 202, retried.text
    await either.work()
    child = retried.json()["data"]["operationId"]
    assert (await either.get(f"/operations/{child}", MAINTAINER)).json()["data"]["status"] == "SUCCEEDED"

    def told(conn: Connection) -> list[tuple[object, ...]]:
        text = """SELECT subject, before, after, details FROM audit_entry
            WHERE action = 'OPERATION_FAIL' AND resource_type = 'OPERATION' AND outcome = 'done'"""
        return [tuple(row) for row in run(conn, text).all()]

    ((subject, before, after, details),) = await either.parts.database.read(told)
    assert (subject, before, after) == ("otto", "PENDING", "FAILED")
    assert "since Monday" in str(details)


@pytest.mark.parametrize("user", [FOREIGN, SECRET], ids=["of another tenant", "of another security domain"])
async def test_others_know_nothing_of_it(gateway: Gateway, user: User) -> None:
    operation_id = await accepted(gateway)

    assert (await admin_get(gateway, "/operations", user)).json()["data"]["items"] == []
    assert (await admin_get(gateway, f"/operations/{operation_id}", user)).status_code == 404
    assert (await admin_post(gateway, f"/operations/{operation_id}:fail", REASON, user)).status_code == 404
    assert (await reason_of(gateway, operation_id))[0] == "STARVED"


async def test_who_is_no_operator_may_not_ask(gateway: Gateway) -> None:
    for path in ("/operations", "/dead-letters", "/reconciliations"):
        checked_error(await admin_get(gateway, path, MAINTAINER), 403, "KNOWLEDGE_FORBIDDEN")


async def letters(gateway: Gateway, *changed: dict[str, object]) -> list[str]:
    """Dead letters, each like the first but for what is changed; their ids."""
    plain = DeadLetter(
        id=LetterId("x"),
        tenant_id=TenantId("acme"),
        kind=LetterKind.EVENT,
        owner_id="",
        subject="knowgate.event.failed.nobody",
        headers={"ce-id": "op_1.upload.1.1.r.1"},
        body=b'{"text": "\xe9"}',
        error="KeyError('x')",
        created_at=START,
    )
    made = [replace(plain, id=LetterId(new_id("ltr")), **change) for change in changed]  # type: ignore[arg-type]
    await gateway.parts.database.write(lambda conn: insert_dead_letters(conn, made))
    return [letter.id for letter in made]


async def listed(gateway: Gateway, user: User = OPERATOR, **query: str) -> list[str]:
    answer = await admin_get(gateway, "/dead-letters", user, **query)
    assert answer.status_code == 200, answer.text
    return [item["letterId"] for item in answer.json()["data"]["items"]]


async def test_dead_letters_are_listed_shown_replayed_and_discarded(either: Gateway) -> None:
    event, command = await letters(either, {}, {"kind": LetterKind.COMMAND, "body": b"text"})

    assert await listed(either) == sorted([event, command])
    shown = (await admin_get(either, f"/dead-letters/{event}", OPERATOR)).json()["data"]
    assert (shown["body"], shown["isBase64"]) == ("eyJ0ZXh0IjogIukifQ==", True)
    assert shown["headers"] == {"ce-id": "op_1.upload.1.1.r.1"}
    assert (await admin_get(either, f"/dead-letters/{command}", OPERATOR)).json()["data"]["body"] == "text"

    replayed = await admin_post(either, f"/dead-letters/{event}:replay", REASON, OPERATOR)
    assert replayed.json()["data"]["status"] == "REPLAYING"
    checked_error(
        await admin_post(either, f"/dead-letters/{event}:replay", REASON, OPERATOR), 409, "KNOWLEDGE_CONFLICT"
    )
    refused = await admin_post(either, f"/dead-letters/{command}:replay", REASON, OPERATOR)
    assert "Only an event" in checked_error(refused, 409, "KNOWLEDGE_CONFLICT")["message"]
    discarded = await admin_post(either, f"/dead-letters/{command}:discard", REASON, OPERATOR)
    assert (discarded.json()["data"]["status"], discarded.json()["data"]["settledBy"]) == ("DISCARDED", "otto")
    checked_error(
        await admin_post(either, f"/dead-letters/{command}:discard", REASON, OPERATOR), 409, "KNOWLEDGE_CONFLICT"
    )
    assert await listed(either) == []
    assert await listed(either, status=LetterStatus.DISCARDED.value) == [command]


async def test_a_letter_of_no_tenant_is_for_those_who_run_the_whole(either: Gateway) -> None:
    nobodys, foreign = await letters(either, {"tenant_id": None}, {"tenant_id": TenantId("globex")})

    assert await listed(either) == []
    assert (await admin_get(either, f"/dead-letters/{nobodys}", OPERATOR)).status_code == 404
    assert (await admin_post(either, f"/dead-letters/{nobodys}:discard", REASON, OPERATOR)).status_code == 404
    assert await listed(either, SYSTEM) == [nobodys]
    assert (await admin_get(either, f"/dead-letters/{foreign}", SYSTEM)).status_code == 404
    assert await listed(either, FOREIGN) == [foreign]
    assert (await admin_post(either, f"/dead-letters/{nobodys}:discard", REASON, SYSTEM)).status_code == 200


async def test_an_operation_with_a_dead_letter_is_stuck_until_it_is_ended_with_it(either: Gateway) -> None:
    operation_id = await accepted(either)
    (letter,) = await letters(either, {"owner_id": operation_id})

    answer = (await admin_get(either, f"/operations/{operation_id}", OPERATOR)).json()["data"]
    assert (answer["reason"], answer["letterId"]) == ("STUCK", letter)
    assert (await admin_post(either, f"/operations/{operation_id}:fail", REASON, OPERATOR)).status_code == 200
    assert await listed(either, status=LetterStatus.DISCARDED.value) == [letter]


async def test_reconciliations_are_asked_for_and_looked_at_by_their_tenant(either: Gateway) -> None:
    first = await admin_post(either, "/reconciliations", {}, OPERATOR)
    either.clock.move(timedelta(seconds=1))
    second = await admin_post(either, "/reconciliations", {"apply": True}, OPERATOR)

    assert first.status_code == second.status_code == 201
    data = first.json()["data"]
    assert (data["status"], data["apply"], data["requestedBy"]) == ("REQUESTED", False, "otto")
    assert (data["totals"], data["findings"]) == ({}, [])
    items = (await admin_get(either, "/reconciliations", OPERATOR)).json()["data"]["items"]
    assert [item["apply"] for item in items] == [True, False]
    one = f"/reconciliations/{data['reconciliationId']}"
    assert (await admin_get(either, one, OPERATOR)).json()["data"] == data
    assert (await admin_get(either, one, FOREIGN)).status_code == 404
    assert (await admin_get(either, "/reconciliations", FOREIGN)).json()["data"]["items"] == []


async def test_a_reason_is_needed_to_end_or_settle(gateway: Gateway) -> None:
    for path in ("/operations/op_1:fail", "/dead-letters/ltr_1:replay", "/dead-letters/ltr_1:discard"):
        answer = await gateway.http.post(
            ADMIN + path, headers=gateway.headers(OPERATOR, idempotency_key=new_id("key")), json={}
        )
        checked_error(answer, 422, "KNOWLEDGE_INVALID_INPUT")
