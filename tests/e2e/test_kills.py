"""Parts of the gateway are killed at the worst moment; what was accepted still ends READY, and once."""

import os
import signal
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import anyio
import nats

from services.cli.stack import Stack
from shared.client.waiting import has_succeeded
from shared.contracts.catalogue import event_subject
from shared.contracts.enums import DocumentStatus, EventType, OperationStatus, VersionStatus
from shared.contracts.ids import DocumentId
from shared.contracts.retrieval import RetrievalMatches
from shared.providers.embedded.embedding import bundled_name
from shared.providers.embedded.index.reader import IndexReader
from tests.e2e.conversation import Conversation, conversation

PATIENCE = timedelta(minutes=3)
SECTIONS = 400
FIRST_SPACE = "1"
"""The index's own id of its first space."""


def long_document(sections: int) -> bytes:
    """Text that keeps the engine busy for a while."""
    paragraph = "Valve {0}.{1} is inspected every {1} weeks and its seal is replaced after {0} inspections. " * 6
    units = (f"## Unit {number}\n\n{paragraph.format(number, number % 17 + 1)}\n" for number in range(1, sections + 1))
    return "\n".join(["# Inspection plan\n", *units]).encode()


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Return when it holds."""
    deadline = time.monotonic() + PATIENCE.total_seconds()
    while not await holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        await anyio.sleep(0.02)


async def assert_ready_once(stack: Stack, talk: Conversation, document_id: DocumentId) -> None:
    """One READY version, one document of it at the provider, and it is found."""
    document = await talk.client.gateway.get_document(document_id)
    assert document.status is DocumentStatus.ACTIVE
    assert document.candidate_version is None
    active = document.active_version
    assert active is not None
    assert (active.version_no, active.status) == (1, VersionStatus.READY)
    assert [name.partition(".")[0] for name in indexed(stack)] == [active.version_id]
    assert isinstance(await talk.search("When is valve 7.8 inspected?"), RetrievalMatches)


def indexed(stack: Stack) -> list[str]:
    """The names of all documents in the index of a gateway that has one space."""
    reader = IndexReader(stack.home.index, embedder=bundled_name())
    try:
        return [document.name for document in reader.list_documents(FIRST_SPACE)]
    finally:
        reader.close()


async def until_ingesting(talk: Conversation, document_id: DocumentId) -> None:
    """Return when a worker has begun to ingest the document."""

    async def is_ingesting() -> bool:
        candidate = (await talk.client.gateway.get_document(document_id)).candidate_version
        return candidate is not None and candidate.status is VersionStatus.INGESTING

    await until(is_ingesting)


def broker_url_of(pid: int) -> str:
    """The address of the broker, as the launcher has given it to its child."""
    variables = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return dict(variable.split("=", 1) for variable in variables if variable)["KNOWGATE_NATS_URL"]


async def until_reported(broker_url: str, subject: str) -> None:
    """Return when a message on this subject comes by."""
    broker = await nats.connect(broker_url)
    try:
        messages = await broker.subscribe(subject)
        await messages.next_msg(timeout=PATIENCE.total_seconds())
    finally:
        await broker.close()


async def test_a_worker_that_is_killed_in_an_ingest_leaves_it_to_the_next_one(own_stack: Stack) -> None:
    async with conversation(own_stack, "killed-worker") as talk:
        accepted = await talk.submit("plan.md", long_document(SECTIONS))
        await until_ingesting(talk, accepted.document_id)
        worker = own_stack.record().children["worker"]

        os.kill(worker, signal.SIGKILL)

        assert has_succeeded(await talk.end_of(accepted.operation_id))
        assert own_stack.record().children["worker"] != worker
        await assert_ready_once(own_stack, talk, accepted.document_id)


async def test_a_projector_that_is_killed_between_event_and_commit_is_made_up_for(own_stack: Stack) -> None:
    async with conversation(own_stack, "killed-projector") as talk:
        accepted = await talk.submit("plan.md", long_document(SECTIONS))
        await until_ingesting(talk, accepted.document_id)
        projector = own_stack.record().children["projector"]
        subject = event_subject(EventType.SUCCEEDED, accepted.operation_id)

        # Stopped, it gets the event and cannot commit what follows from it.
        os.kill(projector, signal.SIGSTOP)
        await until_reported(broker_url_of(projector), subject)
        operation = await talk.client.gateway.get_operation(accepted.operation_id)
        assert operation.status is OperationStatus.RUNNING
        os.kill(projector, signal.SIGKILL)

        assert has_succeeded(await talk.end_of(accepted.operation_id))
        assert own_stack.record().children["projector"] != projector
        await assert_ready_once(own_stack, talk, accepted.document_id)
