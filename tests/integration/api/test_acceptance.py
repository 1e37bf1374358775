"""Accepting work: it depends on the database alone, is refused before the commit, and is published after it."""

from shared.contracts.catalogue import DispatchRoom
from shared.contracts.enums import Step
from shared.messaging.codec import read_command
from tests.integration.api.harness import Gateway, checked_error, space_request
from tests.support.eventually import until


async def waiting(gateway: Gateway) -> list[tuple[str, bool]]:
    """The step of each command in the outbox, and whether it is noted as published."""
    text = "SELECT step, published_at FROM outbox ORDER BY created_at"
    rows = await gateway.parts.database.read(lambda conn: conn.exec_driver_sql(text).all())
    return [(row[0], row[1] is not None) for row in rows]


async def test_without_room_the_command_is_left_to_the_dispatcher(gateway: Gateway) -> None:
    assert (await gateway.post("/spaces", space_request())).status_code == 201

    assert await waiting(gateway) == [("provision", False)]
    assert gateway.broker.messages == []


async def test_with_room_the_command_is_published_as_soon_as_it_is_committed(gateway: Gateway) -> None:
    gateway.parts.room.hear(DispatchRoom(room={Step.PROVISION: 1}))

    await gateway.post("/spaces", space_request("one"))
    await gateway.post("/spaces", space_request("two"))

    assert await waiting(gateway) == [("provision", True), ("provision", False)]
    await until(lambda: len(gateway.broker.messages) == 1)
    message = gateway.broker.messages[0]
    command = read_command(message.body, message.headers)
    assert message.message_id == f"{command.command_id}.1"
    assert message.headers["ce-source"] == "/knowgate/api"
    assert message.subject.startswith("knowgate.command.provision.")


async def test_the_trace_of_the_request_goes_with_the_command(gateway: Gateway) -> None:
    gateway.parts.room.hear(DispatchRoom(room={Step.PROVISION: 1}))
    traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    headers = gateway.headers(traceparent=traceparent, idempotency_key="k")

    await gateway.http.post("/internal/v1/knowledge/spaces", headers=headers, json=space_request())

    await until(lambda: len(gateway.broker.messages) == 1)
    assert gateway.broker.messages[0].headers["traceparent"] == traceparent


async def test_room_that_was_not_heard_of_lately_is_no_room(gateway: Gateway) -> None:
    gateway.parts.room.hear(DispatchRoom(room={Step.PROVISION: 5}))
    gateway.seconds[0] += 3.1

    await gateway.post("/spaces", space_request())

    assert await waiting(gateway) == [("provision", False)]


async def test_a_broker_that_has_just_gone_does_not_matter(gateway: Gateway) -> None:
    gateway.parts.room.hear(DispatchRoom(room={Step.PROVISION: 1}))
    gateway.broker.is_there = False
    gateway.seconds[0] += 2

    answer = await gateway.post("/spaces", space_request())

    assert answer.status_code == 201
    assert await waiting(gateway) == [("provision", True)]


async def test_a_broker_that_is_away_for_long_makes_new_work_wait_outside(gateway: Gateway) -> None:
    gateway.broker.is_there = False
    gateway.seconds[0] += 61

    answer = await gateway.post("/spaces", space_request())

    error = checked_error(answer, 503, "PROVIDER_UNAVAILABLE")
    assert error["retryable"] is True
    assert [fault["field"] for fault in error["fieldErrors"]] == ["broker_down"]
    assert answer.headers["retry-after"] == "5"
    assert await waiting(gateway) == []


async def test_what_was_accepted_before_is_answered_again_without_a_broker(gateway: Gateway) -> None:
    await gateway.post("/spaces", space_request(), key="kept")
    gateway.broker.is_there = False
    gateway.seconds[0] += 61

    answer = await gateway.post("/spaces", space_request(), key="kept")

    assert answer.status_code == 201
    assert answer.headers["x-idempotent-replay"] == "true"
    assert (await gateway.get("/spaces")).status_code == 200


async def test_work_is_taken_on_again_when_the_broker_is_back(gateway: Gateway) -> None:
    gateway.broker.is_there = False
    gateway.seconds[0] += 61
    assert (await gateway.post("/spaces", space_request())).status_code == 503

    gateway.broker.is_there = True

    assert (await gateway.post("/spaces", space_request())).status_code == 201
