"""Operations over HTTP."""

from datetime import timedelta

from shared.contracts.envelope import Envelope
from shared.contracts.operations import Operation
from tests.integration.api.harness import BOB, Gateway, checked_error


async def test_an_operation_that_waits_tells_when_to_look_again(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    accepted = await gateway.accept_document(space_id)
    gateway.clock.move(timedelta(hours=1))

    answer = await gateway.get(f"/operations/{accepted['operationId']}")

    Envelope[Operation].model_validate_json(answer.content)
    assert answer.json()["data"] == {
        "operationId": accepted["operationId"],
        "status": "PENDING",
        "operationType": "DOCUMENT_UPLOAD",
        "resourceType": "DOCUMENT",
        "resourceId": accepted["documentId"],
        "manualRetryAttempt": 0,
        "createdAt": "2031-05-06T07:08:09.000Z",
        "updatedAt": "2031-05-06T07:08:09.000Z",
        "nextPollAfterMs": 60000,
        "retryable": False,
        "retryCount": 0,
        "lastRetryAt": None,
        "nextRetryAt": None,
    }


async def test_an_operation_that_is_over_need_not_be_looked_at_again(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    accepted = await gateway.accept_document(space_id)
    await gateway.work()

    data = (await gateway.get(f"/operations/{accepted['operationId']}")).json()["data"]

    assert data["status"] == "SUCCEEDED"
    assert data["nextPollAfterMs"] == 0


async def test_an_operation_is_seen_by_those_alone_who_see_what_it_is_about(gateway: Gateway) -> None:
    accepted = await gateway.accept_document(await gateway.make_space())

    checked_error(await gateway.get(f"/operations/{accepted['operationId']}", BOB), 404, "OPERATION_NOT_FOUND")
    checked_error(await gateway.get("/operations/op_none"), 404, "OPERATION_NOT_FOUND")
