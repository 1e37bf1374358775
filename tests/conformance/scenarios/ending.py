"""How work ends: automatic retries, retries by hand, cancelling."""

from typing import Final

from tests.conformance.answers import Json
from tests.conformance.client import Client, expect
from tests.conformance.contract import LIMITS
from tests.conformance.identity import ALICE
from tests.conformance.scenarios.acts import end_of, new_space, submit, until
from tests.conformance.scenarios.replacing import NEW, odd_name
from tests.conformance.scenarios.scenario import World, rule

AUTOMATIC: Final = LIMITS["automaticRetries"]
BY_HAND: Final = LIMITS["manualRetriesPerRootOperation"]
AGAIN: Final = {"reason": "the provider is back"}
NOT_RETRYABLE: Final = "OPERATION_NOT_RETRYABLE"
NOT_CANCELLABLE: Final = "OPERATION_NOT_CANCELLABLE"


async def failing(world: World) -> tuple[Json, str]:
    """An upload whose provider is away for good, and its file's name."""
    name = odd_name("failing")
    world.gateway.tell(name, faults={"start": {"unavailable": 1000}})
    return await submit(world.speaker, await new_space(world.speaker), name, NEW), name


async def retry(client: Client, operation_id: str) -> Json:
    """A retry by hand."""
    return await client.ask("operation_retry", operation_id, body=AGAIN)


@rule("END a step is retried by itself at most five times, and then says whether a person may")
async def retries_by_itself(world: World) -> None:
    client = world.speaker
    accepted, _ = await failing(world)
    ended = await end_of(client, accepted["operationId"])
    told = (ended["status"], ended["failureCode"], ended["retryable"], ended["retryCount"])
    expect(told == ("FAILED", "KNOWLEDGE_PROVIDER_UNAVAILABLE", True, AUTOMATIC), f"it ended as {told}")
    expect(ended["lastRetryAt"] is not None and ended["nextRetryAt"] is None, f"its retries are {ended}")
    candidate = (await client.ask("document_get", accepted["documentId"]))["candidateVersion"]
    expect((candidate["status"], candidate["retryable"]) == ("FAILED", True), f"{candidate['status']}")


@rule("END a retry by hand is a child on the same version, counted from the root, and may succeed")
async def retries_by_hand(world: World) -> None:
    client = world.speaker
    accepted, name = await failing(world)
    await end_of(client, accepted["operationId"])
    before = (await client.ask("document_get", accepted["documentId"]))["candidateVersion"]["versionId"]
    world.gateway.tell(name)
    child = await retry(client, accepted["operationId"])
    ended = await end_of(client, child["operationId"])
    told = (ended["status"], ended["operationType"], ended["parentOperationId"], ended["manualRetryAttempt"])
    expect(told == ("SUCCEEDED", "DOCUMENT_UPLOAD", accepted["operationId"], 1), f"the child ended as {told}")
    detail = await client.ask("document_get", accepted["documentId"])
    active = detail["activeVersion"]
    told = (detail["status"], active["versionId"], active["operationId"], active["versionNo"])
    expect(told == ("ACTIVE", before, child["operationId"], 1), f"the document is {told}")


@rule("END there are three retries by hand of one root, each of the newest, whoever is retried")
async def bounds_retries_by_hand(world: World) -> None:
    client = world.speaker
    accepted, _ = await failing(world)
    newest = accepted["operationId"]
    for number in range(1, BY_HAND + 1):
        expect((await end_of(client, newest))["status"] == "FAILED", "it did not fail")
        child = await retry(client, newest)
        await client.refused(NOT_RETRYABLE, "operation_retry", newest, body=AGAIN)
        newest = child["operationId"]
        told = (await client.ask("operation_get", newest))["manualRetryAttempt"]
        expect(told == number, f"retry {number} calls itself {told}")
    await end_of(client, newest)
    code = "OPERATION_MANUAL_RETRY_LIMIT_EXCEEDED"
    await client.refused(code, "operation_retry", newest, body=AGAIN)


@rule("END what would fail again, runs or has succeeded cannot be retried")
async def refuses_vain_retries(world: World) -> None:
    client = world.speaker
    name, slow = odd_name("corrupt"), odd_name("slow")
    world.gateway.tell(name, rejects="FILE_ENCRYPTED")
    world.gateway.tell(slow, ingestTime="PT1S")
    space_id = await new_space(client)
    failed = await submit(client, space_id, name, NEW)
    await end_of(client, failed["operationId"])
    await client.refused(NOT_RETRYABLE, "operation_retry", failed["operationId"], body=AGAIN)
    running = await submit(client, space_id, slow, NEW)
    await client.refused(NOT_RETRYABLE, "operation_retry", running["operationId"], body=AGAIN)
    await end_of(client, running["operationId"])
    await client.refused(NOT_RETRYABLE, "operation_retry", running["operationId"], body=AGAIN)


@rule("END work that runs and is cancelled ends once: CANCELLED, or SUCCEEDED if that was faster")
async def cancels_running_work(world: World) -> None:
    client, name = world.speaker, odd_name("slow")
    world.gateway.tell(name, ingestTime="PT10S")
    accepted = await submit(client, await new_space(client), name, NEW)
    await until(
        lambda: client.ask("operation_get", accepted["operationId"]),
        lambda seen: bool(seen["status"] == "RUNNING"),
        "the work",
    )
    cancelled = await client.ask("operation_cancel", accepted["operationId"], body={"reason": "changed my mind"})
    expect(cancelled["status"] in {"RUNNING", "CANCELLED"}, f"it answered {cancelled['status']}")
    ended = await end_of(client, accepted["operationId"])
    detail = await client.ask("document_get", accepted["documentId"])
    if ended["status"] == "CANCELLED":
        told = (detail["status"], detail["candidateVersion"]["status"], detail["searchable"])
        expect(told == ("CREATE_FAILED", "CANCELLED", False), f"the document is {told}")
    else:
        expect((ended["status"], detail["status"]) == ("SUCCEEDED", "ACTIVE"), f"it ended as {ended['status']}")


@rule("END what is over, or can never be cancelled, is not cancellable")
async def refuses_vain_cancels(world: World) -> None:
    client = world.speaker
    space_id = await new_space(client)
    accepted = await submit(client, space_id, odd_name("new"), NEW)
    await end_of(client, accepted["operationId"])
    reason = {"reason": "too late"}
    await client.refused(NOT_CANCELLABLE, "operation_cancel", accepted["operationId"], body=reason)
    document_id = accepted["documentId"]
    version = (await client.ask("document_get", document_id))["lockVersion"]
    body = {"expectedVersion": version, "reason": "over"}
    deleted = await client.ask("document_delete", document_id, body=body)
    await client.of(ALICE).refused(NOT_CANCELLABLE, "operation_cancel", deleted["operationId"], body=reason)


SCENARIOS: Final = (
    retries_by_itself,
    retries_by_hand,
    bounds_retries_by_hand,
    refuses_vain_retries,
    cancels_running_work,
    refuses_vain_cancels,
)
