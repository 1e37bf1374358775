"""Operations cancelled and retried over HTTP, on both databases."""

from dataclasses import replace

from sqlalchemy import Connection

from shared.contracts.enums import FailureClass, FailureReason
from shared.contracts.envelope import Envelope
from shared.contracts.events import StepFailed
from shared.contracts.ids import CommandId, SpaceId, TenantId
from shared.contracts.operations import ManualRetryAccepted, Operation
from shared.database.grants import delete_grants, list_grants
from shared.database.outbox import Publication, find_commands, mark_published
from shared.lifecycle.apply_events import ReceivedEvent, apply_events
from tests.integration.api.harness import ALICE, BOB, READER, Gateway, checked_error
from tests.integration.api.purging import confirm_cancel, told_of

REASON = {"reason": "It was the wrong file."}


async def publish(gateway: Gateway, operation_id: str) -> None:
    """Note the operation's commands as published."""

    def note(conn: Connection) -> None:
        for row in find_commands(conn, {operation_id}):
            published = Publication(
                command_id=row.command_id,
                publication=row.publication,
                sequence=1,
                stream_created="s",
                published_at=gateway.clock(),
            )
            mark_published(conn, [published])

    await gateway.parts.database.write(note)


async def give_up(gateway: Gateway, operation_id: str) -> None:
    """Fail every attempt until the operation has no retries left."""
    for attempt in range(1, 7):
        command = CommandId.parse(f"{operation_id}.upload.{attempt}.1")
        failure = {
            "failure_class": FailureClass.TRANSIENT,
            "reason": FailureReason.PROVIDER_UNAVAILABLE,
            "text": "No.",
        }
        event = StepFailed.model_validate({**told_of(command, "acme", gateway.parts.around), **failure})
        await gateway.parts.database.write(
            lambda conn, event=event: apply_events(conn, [ReceivedEvent(event)], gateway.parts.around)  # type: ignore[misc]
        )


async def revoke(gateway: Gateway, space_id: str) -> None:
    """Take all grants on the space away."""

    def forget(conn: Connection) -> None:
        delete_grants(conn, list_grants(conn, TenantId("acme"), SpaceId(space_id)))

    await gateway.parts.database.write(forget)


async def test_a_cancel_answers_how_the_operation_stands_now(either: Gateway) -> None:
    accepted = await either.accept_document(await either.make_space())
    operation_id = accepted["operationId"]

    answer = await either.post(f"/operations/{operation_id}:cancel", REASON)

    assert answer.status_code == 200
    Envelope[Operation].model_validate_json(answer.content)
    data = answer.json()["data"]
    assert (data["operationId"], data["status"], data["nextPollAfterMs"]) == (operation_id, "CANCELLED", 0)
    assert data == (await either.get(f"/operations/{operation_id}")).json()["data"]
    detail = (await either.get(f"/documents/{accepted['documentId']}")).json()["data"]
    assert (detail["status"], detail["candidateVersion"]["status"]) == ("CREATE_FAILED", "CANCELLED")
    assert detail["candidateVersion"]["operationStatus"] == "CANCELLED"


async def test_a_cancel_of_what_a_worker_has_is_confirmed_later(either: Gateway) -> None:
    accepted = await either.accept_document(await either.make_space())
    operation_id = accepted["operationId"]
    await publish(either, operation_id)

    first = await either.post(f"/operations/{operation_id}:cancel", REASON)
    again = await either.post(f"/operations/{operation_id}:cancel", REASON)

    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json()["data"]["status"] == "PENDING"
    assert again.json()["data"] == first.json()["data"]
    await confirm_cancel(either.parts.database, operation_id, either.parts.around)
    assert (await either.get(f"/operations/{operation_id}")).json()["data"]["status"] == "CANCELLED"
    refused = await either.post(f"/operations/{operation_id}:cancel", REASON)
    error = checked_error(refused, 409, "OPERATION_NOT_CANCELLABLE")
    assert "CANCELLED" in error["message"]
    assert not error["retryable"]


async def test_a_cancel_that_is_sent_again_repeats_its_answer_even_when_all_is_over(either: Gateway) -> None:
    space_id = await either.make_space()
    accepted = await either.accept_document(space_id)
    path = f"/operations/{accepted['operationId']}:cancel"
    await publish(either, accepted["operationId"])
    first = await either.post(path, REASON, key="cancel-1")
    await confirm_cancel(either.parts.database, accepted["operationId"], either.parts.around)
    body = {"expectedVersion": 0, "reason": "Not needed."}
    assert (await either.post(f"/documents/{accepted['documentId']}:delete", body)).status_code == 202

    again = await either.post(path, REASON, key="cancel-1")

    assert again.json()["data"] == first.json()["data"]
    assert again.headers["x-idempotent-replay"] == "true"
    await revoke(either, space_id)
    checked_error(await either.post(path, REASON, key="cancel-1"), 404, "OPERATION_NOT_FOUND")


async def test_a_finished_operation_is_neither_cancelled_nor_retried(either: Gateway) -> None:
    accepted = await either.accept_document(await either.make_space())
    await either.work()
    path = f"/operations/{accepted['operationId']}"

    checked_error(await either.post(f"{path}:cancel", REASON), 409, "OPERATION_NOT_CANCELLABLE")
    checked_error(await either.post(f"{path}:retry", REASON), 409, "OPERATION_NOT_RETRYABLE")


async def test_a_retry_is_a_new_operation_whose_parent_is_the_one_that_was_retried(either: Gateway) -> None:
    accepted = await either.accept_document(await either.make_space())
    root = accepted["operationId"]
    await give_up(either, root)
    assert (await either.get(f"/operations/{root}")).json()["data"]["retryable"] is True

    answer = await either.post(f"/operations/{root}:retry", REASON, key="retry-1")

    assert answer.status_code == 202
    Envelope[ManualRetryAccepted].model_validate_json(answer.content)
    data = answer.json()["data"]
    assert data == {"operationId": data["operationId"], "parentOperationId": root, "status": "PENDING"}
    assert data["operationId"] != root
    assert (await either.post(f"/operations/{root}:retry", REASON, key="retry-1")).json()["data"] == data
    seen = (await either.get(f"/operations/{data['operationId']}")).json()["data"]
    assert (seen["operationType"], seen["resourceId"]) == ("DOCUMENT_UPLOAD", accepted["documentId"])
    assert (seen["manualRetryAttempt"], seen["retryCount"], seen["parentOperationId"]) == (1, 0, root)
    await either.work()
    detail = (await either.get(f"/documents/{accepted['documentId']}")).json()["data"]
    assert (detail["status"], detail["activeVersion"]["operationId"]) == ("ACTIVE", data["operationId"])
    assert (await either.get(f"/operations/{root}")).json()["data"]["retryable"] is False


async def test_a_fourth_retry_of_a_root_is_refused(either: Gateway) -> None:
    operation_id = (await either.accept_document(await either.make_space()))["operationId"]
    await give_up(either, operation_id)
    for _ in range(3):
        answer = await either.post(f"/operations/{operation_id}:retry", REASON)
        operation_id = answer.json()["data"]["operationId"]
        await give_up(either, operation_id)

    refused = await either.post(f"/operations/{operation_id}:retry", REASON)

    checked_error(refused, 409, "OPERATION_MANUAL_RETRY_LIMIT_EXCEEDED")


async def test_both_are_for_those_who_see_the_operation_and_may_do_what_it_does(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    operation_id = (await gateway.accept_document(space_id))["operationId"]
    updater = replace(ALICE, roles=("knowledge-maintainer",))
    for action in ("cancel", "retry"):
        path = f"/operations/{operation_id}:{action}"
        checked_error(await gateway.post(path, REASON, BOB), 404, "OPERATION_NOT_FOUND")
        checked_error(await gateway.post(f"/operations/op_none:{action}", REASON), 404, "OPERATION_NOT_FOUND")
        checked_error(await gateway.post(path, REASON, READER), 403, "KNOWLEDGE_FORBIDDEN")
        checked_error(await gateway.post(path, {}), 422, "KNOWLEDGE_INVALID_INPUT")
    assert (await gateway.post(f"/operations/{operation_id}:cancel", REASON, updater)).status_code == 200


async def test_the_creation_of_a_space_is_retried_only_by_those_who_create_spaces(gateway: Gateway) -> None:
    created = await gateway.make_space()
    operations = await gateway.parts.database.read(
        lambda conn: conn.exec_driver_sql("SELECT id FROM operation WHERE type = 'SPACE_CREATE'").all()
    )
    path = f"/operations/{operations[0][0]}:retry"
    maintainer = replace(ALICE, roles=("knowledge-maintainer",))

    checked_error(await gateway.post(path, REASON, maintainer), 403, "KNOWLEDGE_FORBIDDEN")
    checked_error(await gateway.post(path, REASON), 409, "OPERATION_NOT_RETRYABLE")
    assert (await gateway.get(f"/spaces/{created}")).json()["data"]["status"] == "ACTIVE"


async def test_what_waits_is_cancelled_while_the_broker_is_away(gateway: Gateway) -> None:
    accepted = await gateway.accept_document(await gateway.make_space())
    gateway.broker.is_there = False
    gateway.seconds[0] += 3600

    answer = await gateway.post(f"/operations/{accepted['operationId']}:cancel", REASON)

    assert answer.json()["data"]["status"] == "CANCELLED"
