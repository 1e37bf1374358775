"""The poisons: what is put in, and the reason in which it ends. Each tells through `placed` that it is in."""

import asyncio
import os
import signal
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

from nats.aio.msg import Msg

from shared.client.errors import Refused
from shared.client.waiting import has_succeeded
from shared.contracts.catalogue import HANDS_SUBJECT, WorkerHands, command_filter
from shared.contracts.commands import ProviderKind
from shared.contracts.documents import DocumentDeleteRequest, DocumentOperationAccepted
from shared.contracts.enums import Step, VersionStatus
from shared.contracts.events import TERMINAL_EVENTS, StepFailed
from shared.messaging.codec import CE_ID, read_command, read_event
from shared.providers.embedded.children.parser_pool import MODULE as PARSER
from shared.providers.scripted.script import Call, Faults, Script
from tests.e2e.family import descendants
from tests.poison.scene import ENDS_WITHIN, Scene

Poison = Callable[[Scene, asyncio.Event], Awaitable[str | None]]
"""The reason in which it has ended; None when it has not."""

ENDLESS: Final = b"<div>" * 300_000
"""A page nested so deep that reading it takes minutes."""
HELD: Final = Script(ingest_time=timedelta(seconds=20))
ALWAYS: Final = 1_000_000
LOOK: Final = 0.05
BUSY_LOOKS: Final = 60


async def kills_its_worker(scene: Scene, placed: asyncio.Event) -> str | None:
    """Every worker that has its file in hand is killed."""
    scene.scripted.tell("killer.html", Script(faults={Call.UPLOAD: Faults(deadly=ALWAYS)}))
    accepted = await scene.talk.submit("killer.html", ENDLESS)
    placed.set()
    await whenever_in_hand(scene, accepted, lambda worker: os.kill(worker, signal.SIGKILL))
    return await scene.failure_of(accepted)


async def kills_its_parser(scene: Scene, placed: asyncio.Event) -> str | None:
    """Every parser that reads its file dies of it."""
    accepted = await scene.talk.submit("parser-killer.html", ENDLESS)
    placed.set()

    def kill_parser(worker: int) -> None:
        parser = busy_parser(worker)
        if parser is not None:
            os.kill(parser, signal.SIGSEGV)

    await whenever_in_hand(scene, accepted, kill_parser)
    return await scene.failure_of(accepted)


async def whenever_in_hand(scene: Scene, accepted: DocumentOperationAccepted, hit: Callable[[int], None]) -> None:
    """Hit each worker that says it has the document's ingest in hand. Nobody need be hit by a scripted provider."""
    ingest = f"{accepted.operation_id}.{Step.INGEST}."

    async def hear(message: Msg) -> None:
        hands = WorkerHands.model_validate_json(message.data)
        if any(command.startswith(ingest) for command in hands.commands):
            with suppress(ProcessLookupError):
                await asyncio.to_thread(hit, int(hands.worker_id.split("-")[-2]))

    await scene.broker.subscribe(HANDS_SUBJECT, cb=hear)


def busy_parser(worker: int) -> int | None:
    """The one parser of a worker that has not rested for a while, which has the endless file; None if unclear."""
    parsers = {pid for pid in descendants(worker) if PARSER.encode() in _command_line(pid)}
    for _ in range(BUSY_LOOKS):
        time.sleep(LOOK)
        parsers = {pid for pid in parsers if _is_computing(pid)}
    return parsers.pop() if len(parsers) == 1 else None


def _command_line(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _is_computing(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "R"
    return False


async def garbage_for_a_pending_operation(scene: Scene, placed: asyncio.Event) -> str | None:
    """Its headers are those of the command that is being worked on; its body is none."""
    scene.scripted.tell("held.html", HELD)
    published = await scene.broker.subscribe(command_filter(Step.INGEST))
    accepted = await scene.talk.submit("held.html", ENDLESS)
    while True:
        command = await published.next_msg(timeout=ENDS_WITHIN.total_seconds())
        if (command.headers or {})[CE_ID].startswith(f"{accepted.operation_id}."):
            break
    await published.unsubscribe()
    await _until(lambda: _is_ingesting(scene, accepted))
    await scene.publish(command.subject, b'{"kind": "Ingest', command.headers)
    placed.set()
    return await scene.failure_of(accepted)


async def _is_ingesting(scene: Scene, accepted: DocumentOperationAccepted) -> bool:
    version = (await scene.talk.client.gateway.get_document(accepted.document_id)).candidate_version
    return version is not None and version.status is VersionStatus.INGESTING


async def garbage_of_nobody(scene: Scene, placed: asyncio.Event) -> str | None:
    """A command without headers: nobody knows whose it is."""
    subject = command_filter(Step.UPLOAD).replace("*", "nobody")
    await scene.publish(subject, b"\x00\xff garbage")
    placed.set()
    return await _letter(scene, b"\x00\xff garbage")


async def garbage_event(scene: Scene, placed: asyncio.Event) -> str | None:
    """An event that cannot be decoded."""
    subject = "knowgate.event.succeeded.op_poison"
    await scene.publish(subject, b'{"type": "succee')
    placed.set()
    return await _letter(scene, b'{"type": "succee')


async def _letter(scene: Scene, body: bytes) -> str | None:
    """The error of the dead letter that a message has become."""
    found: list[str] = []

    async def is_there() -> bool:
        with closing(sqlite3.connect(scene.stack.home.database)) as database:
            rows = database.execute("SELECT error FROM dead_letter WHERE body = ?", (body,)).fetchall()
        found.extend(row[0] for row in rows)
        return bool(found)

    await _until(is_there)
    return found[0]


async def command_for_a_document_that_is_gone(scene: Scene, placed: asyncio.Event) -> str | None:
    """The command of a document's ingest comes once more after the document was deleted."""
    published = await scene.broker.subscribe(command_filter(Step.INGEST))
    accepted = await scene.talk.submit("gone.md", b"# Gone\n\nThis is to be deleted.\n")
    while True:
        command = await published.next_msg(timeout=ENDS_WITHIN.total_seconds())
        if (command.headers or {})[CE_ID].startswith(f"{accepted.operation_id}."):
            break
    await published.unsubscribe()
    await scene.end_of(accepted.operation_id)
    await _delete(scene, accepted)
    endings = await scene.broker.subscribe(f"knowgate.event.*.{accepted.operation_id}")
    await scene.publish(command.subject, command.data, command.headers)
    placed.set()
    while True:
        message = await endings.next_msg(timeout=ENDS_WITHIN.total_seconds())
        event = read_event(message.data, message.headers)
        if event.type in TERMINAL_EVENTS:
            break
    if await _is_found(scene, accepted):
        return None
    said = f"{event.type}: {event.reason}" if isinstance(event, StepFailed) else event.type.value
    return f"{read_command(command.data, command.headers).command_id} {said}"


async def _delete(scene: Scene, accepted: DocumentOperationAccepted) -> None:
    gateway = scene.talk.client.gateway
    document = await gateway.get_document(accepted.document_id)
    request = DocumentDeleteRequest(expected_version=document.lock_version, reason="It is poison.")
    deleting = await gateway.delete_document(accepted.document_id, request)
    if not has_succeeded(await scene.end_of(deleting.operation_id)):
        raise AssertionError("the document could not be deleted")


async def _is_found(scene: Scene, accepted: DocumentOperationAccepted) -> bool:
    try:
        await scene.talk.client.gateway.get_document(accepted.document_id)
    except Refused as refusal:
        if refusal.answer.status == 404:
            return False
        raise
    return True


async def _until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(ENDS_WITHIN.total_seconds()):
        while not await holds():  # noqa: ASYNC110 - nobody tells when it does
            await asyncio.sleep(LOOK)


BESIDE_EACH_OTHER: Final[tuple[Poison, ...]] = (
    garbage_for_a_pending_operation,
    garbage_of_nobody,
    garbage_event,
    command_for_a_document_that_is_gone,
)
WAVES: Final[dict[ProviderKind, tuple[tuple[Poison, ...], ...]]] = {
    ProviderKind.EMBEDDED: ((kills_its_worker,), (kills_its_parser,), BESIDE_EACH_OTHER),
    ProviderKind.SCRIPTED: ((kills_its_worker, *BESIDE_EACH_OTHER),),
}
"""What is put in together, wave after wave, by the provider that it is for.

The scripted one reads no files, and kills by itself whoever calls it. Of the other, what is to be killed for the one
must not be in the same hands as what is to be killed for the other.
"""
