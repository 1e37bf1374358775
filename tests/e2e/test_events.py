"""What happens to an upload is told as it happens, and a lost connection loses and repeats nothing of it."""

import signal
import subprocess
import sys
from contextlib import aclosing
from threading import Timer

import anyio

from services.cli.stack import Stack
from shared.contracts.enums import OperationStatus
from shared.contracts.transition_events import TransitionEvent
from tests.e2e.conversation import Conversation, conversation

TEXT = b"# Pump\n\nThe pump is checked before each start.\n"
WITHIN_SECONDS = 120


async def follow(talk: Conversation, after: int, resource_id: str, status: str) -> list[TransitionEvent]:
    """Everything up to the resource's first event with this status, over a connection that is dropped then."""
    had = []
    async with aclosing(talk.client.events.follow(after)) as events:
        with anyio.fail_after(WITHIN_SECONDS):
            async for event in events:
                had.append(event)
                if (event.resource_id, event.after) == (resource_id, status):
                    return had
    raise AssertionError("the stream has ended")


async def test_the_events_of_an_upload_are_told_to_its_end_over_two_connections(stack: Stack) -> None:
    async with conversation(stack, "followed") as talk:
        before = await talk.submit("first.md", TEXT)
        begin = (await follow(talk, 0, before.document_id, "ACTIVE"))[-1].seq
        accepted = await talk.submit("second.md", TEXT + b"And after it.\n")

        first = await follow(talk, begin, accepted.operation_id, "PENDING")
        second = await follow(talk, first[-1].seq, accepted.document_id, "ACTIVE")

        whole = await follow(talk, begin, accepted.document_id, "ACTIVE")
        assert first + second == whole
        assert [event.seq for event in whole] == sorted({event.seq for event in whole})
        statuses = [event.after for event in whole if event.resource_id == accepted.operation_id]
        assert statuses == [OperationStatus.PENDING, OperationStatus.RUNNING, OperationStatus.SUCCEEDED]
        assert [event.name for event in whole if event.resource_id == accepted.document_id] == [
            "document.creating",
            "document.active",
        ]


async def test_the_command_line_shows_what_happens(stack: Stack) -> None:
    async with conversation(stack, "shown") as talk:
        accepted = await talk.submit("shown.md", TEXT + b"Shown.\n")
        await talk.end_of(accepted.operation_id)
    command = ("-m", "services.cli.main", "operations", "follow", "--after", "0", "--home", str(stack.home.root))
    following = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True)  # noqa: ASYNC220
    losing_patience = Timer(WITHIN_SECONDS, following.kill)
    losing_patience.start()

    try:
        assert following.stdout is not None
        lines = (line for line in following.stdout if accepted.operation_id in line and "SUCCEEDED" in line)
        line = next(lines, "nothing was shown in time")
        following.send_signal(signal.SIGINT)
        following.communicate(timeout=WITHIN_SECONDS)
    finally:
        losing_patience.cancel()
        following.kill()
        following.communicate()

    assert line.split()[-3:] == ["RUNNING", ">", "SUCCEEDED"]
