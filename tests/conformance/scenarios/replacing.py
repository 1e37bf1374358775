"""Row 5 of the client's list: while a document changes, what was there serves; nobody sees what is not ready."""

import secrets
from typing import Final

from tests.conformance.answers import Json
from tests.conformance.client import Client, expect
from tests.conformance.scenarios.acts import end_of, hits, lock, new_document, new_space, replace, submit, until
from tests.conformance.scenarios.scenario import World, rule

OLD: Final = b"The quarry sells granite."
NEW: Final = b"The quarry sells marble."
WORDS: Final = "What does the quarry sell?"
RUNNING: Final = frozenset({"CREATED", "UPLOADING", "UPLOADED", "INGESTING"})


def odd_name(kind: str) -> str:
    """A file name of its own, so that a script concerns nothing else."""
    return f"{kind}-{secrets.token_hex(4)}.txt"


async def candidate_in(client: Client, document_id: str, *statuses: str) -> Json:
    """The document once its candidate has one of these statuses."""
    return await until(
        lambda: client.ask("document_get", document_id),
        lambda detail: detail["candidateVersion"] is not None and detail["candidateVersion"]["status"] in statuses,
        f"a candidate {' or '.join(statuses)}",
    )


async def texts(client: Client, document_id: str) -> str:
    """What a search in the document shows."""
    return " ".join(hit["content"] for hit in await hits(client, WORDS, documentIds=[document_id]))


async def old_serves(client: Client, document_id: str, citation_id: str) -> None:
    """The old version is found, cited, listed and downloaded, and the new one is nowhere."""
    shown = await texts(client, document_id)
    expect("granite" in shown and "marble" not in shown, f"a search shows {shown!r}")
    source = await client.ask("source_read", citation_id)
    expect("granite" in source["matchedContent"], f"the citation shows {source['matchedContent']!r}")
    detail = await client.ask("document_get", document_id)
    active = detail["activeVersion"]
    told = (detail["searchable"], active["status"], active["versionNo"])
    expect(told == (True, "READY", 1), f"the active version is {told}")
    link = await client.ask("document_download", document_id, body={})
    expect(link["versionId"] == active["versionId"], "the link is of another version")
    fetched = await client.fetch(link["downloadUrl"])
    expect(fetched.content == OLD, f"the link brought {fetched.content!r}")


async def old_document(world: World) -> tuple[str, str]:
    """A document with the old text, and a citation of it."""
    client = world.speaker
    document_id = await new_document(client, await new_space(client), odd_name("old"), OLD)
    found = await hits(client, WORDS, documentIds=[document_id])
    return document_id, found[0]["citationId"]


@rule("R5 while a replacement runs, the old version serves and the new one is seen as a candidate alone")
async def serves_meanwhile(world: World) -> None:
    client, name = world.speaker, odd_name("slow")
    document_id, citation_id = await old_document(world)
    world.gateway.tell(name, ingestTime="PT2S", percents=[0, 0, 40, 80])
    accepted = await replace(client, document_id, name, NEW)

    detail = await candidate_in(client, document_id, "INGESTING")
    candidate = detail["candidateVersion"]
    told = (candidate["versionNo"], candidate["changeType"], candidate["operationStatus"], candidate["fileName"])
    expect(told == (2, "REPLACE", "RUNNING", name), f"the candidate is {told}")
    expect(candidate["operationId"] == accepted["operationId"], "the candidate names another operation")
    await old_serves(client, document_id, citation_id)
    expect((await client.ask("operation_get", accepted["operationId"]))["status"] == "RUNNING", "it had ended")


@rule("R5 a reliable nought is told as 0, and what nobody knows as null")
async def tells_progress(world: World) -> None:
    client, name = world.speaker, odd_name("nought")
    world.gateway.tell(name, ingestTime="PT3S", percents=[0])
    accepted = await submit(client, await new_space(client), name, NEW)
    detail = await until(
        lambda: client.ask("document_get", accepted["documentId"]),
        lambda seen: (seen["candidateVersion"] or {}).get("progressPercent") is not None,
        "a figure",
    )
    candidate = detail["candidateVersion"]
    told = (candidate["progressPercent"], candidate["progressSource"])
    expect(told == (0, "PROVIDER"), f"it is {told}")
    expect(candidate["progressUpdatedAt"] is not None, "nobody says when")


@rule("R5 a replacement takes over in one step, and citations of the old version close with it")
async def switches(world: World) -> None:
    client = world.speaker
    document_id, citation_id = await old_document(world)
    accepted = await replace(client, document_id, odd_name("new"), NEW)
    while True:
        shown = await texts(client, document_id)
        expect(("granite" in shown) != ("marble" in shown), f"a search shows {shown!r}")
        if "marble" in shown:
            break
    expect((await end_of(client, accepted["operationId"]))["status"] == "SUCCEEDED", "it did not succeed")
    detail = await client.ask("document_get", document_id)
    told = (detail["activeVersion"]["versionNo"], detail["candidateVersion"])
    expect(told == (2, None), f"the versions are {told}")
    await client.refused("KNOWLEDGE_NOT_FOUND", "source_read", citation_id)


@rule("R5 a replacement that fails leaves the old version serving and itself visible")
async def survives_failure(world: World) -> None:
    client, name = world.speaker, odd_name("corrupt")
    document_id, citation_id = await old_document(world)
    world.gateway.tell(name, rejects="FILE_CORRUPT")
    ended = await end_of(client, (await replace(client, document_id, name, NEW))["operationId"])
    expect((ended["status"], ended["retryable"]) == ("FAILED", False), f"it ended as {ended['status']}")
    detail = await client.ask("document_get", document_id)
    told = (detail["status"], detail["candidateVersion"]["status"], detail["candidateVersion"]["error"]["retryable"])
    expect(told == ("ACTIVE", "FAILED", False), f"the document is {told}")
    await old_serves(client, document_id, citation_id)


@rule("R5 a replacement that is cancelled leaves the old version serving and itself visible")
async def survives_cancelling(world: World) -> None:
    client, name = world.speaker, odd_name("throttled")
    document_id, citation_id = await old_document(world)
    operation_id = await waiting_replacement(world, document_id, name)
    cancelled = await client.ask("operation_cancel", operation_id, body={"reason": "changed my mind"})
    expect(cancelled["status"] == "CANCELLED", f"it is {cancelled['status']}")
    detail = await candidate_in(client, document_id, "CANCELLED")
    expect(detail["candidateVersion"]["operationStatus"] == "CANCELLED", "its operation is not")
    await old_serves(client, document_id, citation_id)


async def waiting_replacement(world: World, document_id: str, name: str) -> str:
    """A replacement that waits for a retry, for long: the provider has asked to come back later."""
    world.gateway.tell(name, faults={"start": {"throttled": 1, "retryAfter": "PT5M"}})
    accepted = await replace(world.speaker, document_id, name, NEW)
    operation = await until(
        lambda: world.speaker.ask("operation_get", accepted["operationId"]),
        lambda seen: seen.get("nextRetryAt") is not None,
        "the wait for a retry",
    )
    told = (operation["status"] in {"PENDING", "RUNNING"}, operation["retryCount"])
    expect(told == (True, 1), f"while it waits it is {operation}")
    expect(operation["nextPollAfterMs"] > 1000, f"it says to look again in {operation['nextPollAfterMs']} ms")
    return str(accepted["operationId"])


@rule("R5 a first upload that is cancelled leaves a document that was not created, and can be replaced")
async def cancels_first_uploads(world: World) -> None:
    client, name = world.speaker, odd_name("throttled")
    world.gateway.tell(name, faults={"start": {"throttled": 1, "retryAfter": "PT5M"}})
    accepted = await submit(client, await new_space(client), name, NEW)
    await until(
        lambda: client.ask("operation_get", accepted["operationId"]),
        lambda seen: seen.get("nextRetryAt") is not None,
        "the wait for a retry",
    )
    await client.ask("operation_cancel", accepted["operationId"], body={"reason": "changed my mind"})
    detail = await client.ask("document_get", accepted["documentId"])
    told = (detail["status"], detail["candidateVersion"]["status"], detail["lockVersion"])
    expect(told == ("CREATE_FAILED", "CANCELLED", 0), f"the document is {told}")
    again = await replace(client, accepted["documentId"], odd_name("new"), NEW)
    expect((await end_of(client, again["operationId"]))["status"] == "SUCCEEDED", "it could not be replaced")
    detail = await client.ask("document_get", accepted["documentId"])
    told = (detail["status"], detail["activeVersion"]["changeType"], detail["activeVersion"]["versionNo"])
    expect(told == ("ACTIVE", "REPLACE", 2), f"the document is {told}")


@rule("R5 a reindex works on a version of its own while the old one serves, and takes over")
async def reindexes(world: World) -> None:
    client, name = world.speaker, odd_name("again")
    document_id = await new_document(client, await new_space(client), name, OLD)
    citation_id = (await hits(client, WORDS, documentIds=[document_id]))[0]["citationId"]
    world.gateway.tell(name, delays={"start": "PT1.5S"})
    body = {"expectedVersion": await lock(client, document_id)}
    accepted = await client.ask("document_reindex", document_id, body=body)
    detail = await candidate_in(client, document_id, *RUNNING)
    expect(detail["candidateVersion"]["changeType"] == "REINDEX", f"{detail['candidateVersion']}")
    await old_serves(client, document_id, citation_id)
    ended = await end_of(client, accepted["operationId"])
    told = (ended["status"], ended["operationType"])
    expect(told == ("SUCCEEDED", "DOCUMENT_REINDEX"), f"it ended as {told}")
    active = (await client.ask("document_get", document_id))["activeVersion"]
    made = (active["versionNo"], active["changeType"], active["fileName"])
    expect(made == (2, "REINDEX", name), f"the active version is {made}")
    expect("granite" in await texts(client, document_id), "the text is gone")


@rule("R5 a reindex that fails leaves the old version serving, and can be retried")
async def survives_failed_reindex(world: World) -> None:
    client, name = world.speaker, odd_name("failing")
    document_id = await new_document(client, await new_space(client), name, OLD)
    citation_id = (await hits(client, WORDS, documentIds=[document_id]))[0]["citationId"]
    world.gateway.tell(name, faults={"start": {"unavailable": 1000}})
    body = {"expectedVersion": await lock(client, document_id)}
    accepted = await client.ask("document_reindex", document_id, body=body)
    ended = await end_of(client, accepted["operationId"])
    expect((ended["status"], ended["retryable"]) == ("FAILED", True), f"it ended as {ended}")
    await old_serves(client, document_id, citation_id)
    world.gateway.tell(name)
    retried = await client.ask("operation_retry", accepted["operationId"], body={"reason": "mended"})
    expect((await end_of(client, retried["operationId"]))["status"] == "SUCCEEDED", "the retry failed too")
    expect((await client.ask("document_get", document_id))["activeVersion"]["versionNo"] == 2, "it did not take over")


@rule("R5 one change of a document at a time: another one is told to wait")
async def changes_once_at_a_time(world: World) -> None:
    client, name = world.speaker, odd_name("slow")
    document_id, _ = await old_document(world)
    world.gateway.tell(name, ingestTime="PT3S")
    await replace(client, document_id, name, NEW)
    version = await lock(client, document_id)
    await client.refused(
        "KNOWLEDGE_OPERATION_PENDING", "document_reindex", document_id, body={"expectedVersion": version}
    )
    file = await client.upload("more.txt", NEW + b" More.")
    body = {"fileResourceId": file.data["fileResourceId"], "expectedVersion": version}
    await client.refused("KNOWLEDGE_OPERATION_PENDING", "document_replace", document_id, body=body)


@rule("R5 what failed gives its slot to the next replacement, and cannot be retried then")
async def supersedes(world: World) -> None:
    client, name = world.speaker, odd_name("failing")
    document_id, _ = await old_document(world)
    world.gateway.tell(name, faults={"start": {"unavailable": 1000}})
    failed = await replace(client, document_id, name, NEW)
    expect((await end_of(client, failed["operationId"]))["retryable"] is True, "it could not have been retried at all")
    accepted = await replace(client, document_id, odd_name("new"), NEW)
    await client.refused("OPERATION_NOT_RETRYABLE", "operation_retry", failed["operationId"], body={"reason": "again"})
    expect((await end_of(client, accepted["operationId"]))["status"] == "SUCCEEDED", "the next one failed")
    expect((await client.ask("document_get", document_id))["activeVersion"]["versionNo"] == 3, "another one serves")


SCENARIOS: Final = (
    serves_meanwhile,
    tells_progress,
    switches,
    survives_failure,
    survives_cancelling,
    cancels_first_uploads,
    reindexes,
    survives_failed_reindex,
    changes_once_at_a_time,
    supersedes,
)
