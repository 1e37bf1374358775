"""What happens to a command when its worker dies, stops or stalls, when the broker dies, and when it is no command."""

import asyncio
import signal
import time
from datetime import timedelta
from pathlib import Path

import pytest

from shared.contracts.catalogue import WorkerHands
from shared.contracts.enums import EventType, FailureClass, FailureReason, InterruptReason, Step
from shared.contracts.events import StepFailed, StepInterrupted, StepSucceeded
from shared.messaging.announcements import listen_for_hands
from shared.messaging.codec import Message, command_message
from shared.messaging.local_server import LocalNatsServer
from shared.messaging.settings import MessagingSettings
from shared.providers.scripted.script import Call, Script
from tests.support.eventually import until
from tests.support.messaging import messaging_settings
from tests.support.worker import Commands, Desk, Place, desk_at, worker_at, worker_process

QUICK = timedelta(seconds=1)
"""How soon an unsettled command comes again in these tests."""


@pytest.fixture
def quick(nats_url: str) -> MessagingSettings:
    return messaging_settings(nats_url, ack_wait=QUICK)


async def test_a_command_whose_worker_was_killed_is_finished_by_another_without_a_second_start(
    quick: MessagingSettings, tmp_path: Path
) -> None:
    place = Place(root=tmp_path, messaging=quick)
    async with desk_at(place) as desk:
        desk.provider.tell("pump.txt", Script(ingest_time=timedelta(seconds=2)))
        with worker_process(place, tmp_path / "worker.log") as first:
            await desk.issue(Commands().reindex())
            await until(lambda: desk.provider.calls(Call.START, "ver_1") == 1)
            first.kill()
        async with worker_at(place):
            ended = await desk.ending()
        assert isinstance(ended, StepSucceeded)
        assert desk.provider.calls(Call.START, "ver_1") == 1
        assert desk.provider.calls(Call.UPLOAD, "ver_1") == 1


async def test_heartbeats_keep_a_long_step_in_one_pair_of_hands(quick: MessagingSettings, tmp_path: Path) -> None:
    place = Place(root=tmp_path, messaging=quick)
    async with desk_at(place) as desk, worker_at(place), worker_at(place):
        desk.provider.tell("pump.txt", Script(ingest_time=3 * QUICK))
        await desk.issue(Commands().reindex())
        events = await desk.events(lambda found: found[-1].type is EventType.SUCCEEDED)
    assert [event.type for event in events] == [EventType.STARTED, EventType.SUCCEEDED]


async def test_a_worker_that_is_asked_to_stop_hands_back_what_it_works_on(
    quick: MessagingSettings, tmp_path: Path
) -> None:
    place = Place(root=tmp_path, messaging=quick)
    async with desk_at(place) as desk:
        desk.provider.tell("pump.txt", Script(ingest_time=timedelta(hours=1)))
        with worker_process(place, tmp_path / "worker.log") as worker:
            await desk.issue(Commands().reindex())
            await until(lambda: desk.provider.calls(Call.START, "ver_1") == 1)
            began = time.monotonic()
            worker.stop(within=timedelta(seconds=10), by=signal.SIGTERM)
            took = time.monotonic() - began
            assert worker.exit_code == 0, (tmp_path / "worker.log").read_text()
        ended = await desk.ending()
        assert isinstance(ended, StepInterrupted)
        assert ended.reason is InterruptReason.SHUTDOWN
        assert await desk.commands_left() == 0
        assert took < 5
        assert desk.provider.calls(Call.STOP, "ver_1") == 0


async def test_a_command_that_comes_for_the_fourth_time_is_given_back_as_a_crash(
    quick: MessagingSettings, tmp_path: Path
) -> None:
    place = Place(root=tmp_path, messaging=quick)
    async with desk_at(place) as desk:
        await desk.issue(Commands().upload())
        pull = await desk.connection.jetstream.pull_subscribe_bind("knowgate-upload", "KNOWGATE_COMMANDS")
        for _ in range(3):
            await pull.fetch(1, timeout=5)
        async with worker_at(place):
            ended = await desk.ending()
        assert isinstance(ended, StepInterrupted)
        assert ended.reason is InterruptReason.CRASH
        assert desk.provider.calls(Call.UPLOAD, "ver_1") == 0
        assert await desk.commands_left() == 0


async def dead_letters(desk: Desk) -> list[Message]:
    """What lies in the stream of dead letters, without the broker's own advisories."""
    look = await desk.connection.jetstream.stream_info("KNOWGATE_DEADLETTERS")
    stored = [
        await desk.connection.jetstream.get_msg("KNOWGATE_DEADLETTERS", sequence)
        for sequence in range(look.state.first_seq, look.state.last_seq + 1)
    ]
    return [
        Message(subject=str(one.subject), body=one.data or b"", headers=dict(one.headers or {}), message_id="")
        for one in stored
        if str(one.subject).startswith("knowgate.")
    ]


async def test_a_body_that_cannot_be_read_fails_its_command_and_is_kept(
    quick: MessagingSettings, tmp_path: Path
) -> None:
    place = Place(root=tmp_path, messaging=quick)
    async with desk_at(place) as desk, worker_at(place):
        good = command_message(Commands().upload(), step=Step.UPLOAD, source="test", traceparent=None)
        await desk.publish(
            Message(subject=good.subject, body=b'{"kind": "UploadVersion"', headers=good.headers, message_id="broken")
        )
        ended = await desk.ending()
        assert isinstance(ended, StepFailed)
        assert (ended.failure_class, ended.reason) == (FailureClass.PERMANENT, FailureReason.MESSAGE_UNREADABLE)
        assert (ended.command_id, ended.tenant_id) == ("op_1.upload.1.1", "acme")
        (letter,) = await dead_letters(desk)
        assert letter.subject == "knowgate.deadletter.command"
        assert letter.body == b'{"kind": "UploadVersion"'
        assert letter.headers["ce-id"] == "op_1.upload.1.1"
        assert "could not be read" in letter.headers["knowgate-reason"]
        await until_empty(desk)


async def until_empty(desk: Desk) -> None:
    deadline = time.monotonic() + 5
    while await desk.commands_left():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


async def test_a_message_of_which_nothing_is_known_is_kept_and_holds_up_nothing(
    quick: MessagingSettings, tmp_path: Path
) -> None:
    place = Place(root=tmp_path, messaging=quick)
    async with desk_at(place) as desk, worker_at(place):
        await desk.publish(
            Message(subject="knowgate.command.upload.someone", body=b"\x00\xff", headers={}, message_id="noise")
        )
        await desk.issue(Commands().upload())
        assert isinstance(await desk.ending(), StepSucceeded)
        await until_empty(desk)
        assert [letter.body for letter in await dead_letters(desk)] == [b"\x00\xff"]


async def test_a_command_of_another_step_than_its_subject_says_is_refused(
    quick: MessagingSettings, tmp_path: Path
) -> None:
    place = Place(root=tmp_path, messaging=quick)
    async with desk_at(place) as desk, worker_at(place):
        ingest = command_message(Commands().ingest(), step=Step.INGEST, source="test", traceparent=None)
        await desk.publish(
            Message(
                subject=ingest.subject.replace("ingest", "upload"),
                body=ingest.body,
                headers=ingest.headers,
                message_id="misplaced",
            )
        )
        ended = await desk.ending()
        assert isinstance(ended, StepFailed)
        assert ended.reason is FailureReason.MESSAGE_UNREADABLE


async def test_work_goes_on_over_a_death_of_the_broker(tmp_path: Path) -> None:
    with LocalNatsServer(tmp_path / "nats") as server:
        place = Place(root=tmp_path, messaging=messaging_settings(server.url, ack_wait=timedelta(seconds=5)))
        async with desk_at(place) as desk, worker_at(place):
            desk.provider.tell("pump.txt", Script(ingest_time=timedelta(seconds=1.5)))
            await desk.issue(Commands(number=1).reindex())
            await until(lambda: desk.provider.calls(Call.START, "ver_1") == 1)
            server.kill()
            await asyncio.sleep(0.5)
            server.start()
            await desk.connection.wait_connected(timedelta(seconds=5))
            began = time.monotonic()
            await desk.issue(Commands(number=2).upload())
            endings = await desk.endings(2)
            assert time.monotonic() - began < 5
        assert {ending.command_id for ending in endings} == {"op_1.reindex.1.1", "op_2.upload.1.1"}
        assert all(isinstance(ending, StepSucceeded) for ending in endings)


async def test_a_worker_that_stood_still_for_too_long_writes_nothing_more(
    quick: MessagingSettings, tmp_path: Path
) -> None:
    """It is stopped as by a debugger in the middle of its work; another one finishes meanwhile."""
    place = Place(root=tmp_path, messaging=quick)
    async with desk_at(place) as desk:
        desk.provider.tell("pump.txt", Script(delays={Call.UPLOAD: timedelta(seconds=1)}))
        with worker_process(place, tmp_path / "worker.log") as stalled:
            await desk.issue(Commands().reindex())
            await desk.events(bool)
            stalled._send(signal.SIGSTOP)
            async with worker_at(place):
                ended = await desk.ending()
            stalled._send(signal.SIGCONT)
            await until(lambda: "worker.delivery.fenced" in (tmp_path / "worker.log").read_text())
        assert isinstance(ended, StepSucceeded)
        assert desk.provider.calls(Call.START, "ver_1") == 1
        assert len(await desk.endings()) == 1


async def test_a_worker_says_which_commands_it_has_in_hand(quick: MessagingSettings, tmp_path: Path) -> None:
    place = Place(root=tmp_path, messaging=quick)
    heard: list[WorkerHands] = []
    async with desk_at(place) as desk:
        await listen_for_hands(desk.connection, heard.append)
        desk.provider.tell("pump.txt", Script(ingest_time=timedelta(hours=1)))
        async with worker_at(place):
            await until(lambda: bool(heard) and heard[-1].commands == ())
            await desk.issue(Commands().reindex())
            await until(lambda: heard[-1].commands == ("op_1.reindex.1.1",))
    assert len({one.worker_id for one in heard}) == 1
