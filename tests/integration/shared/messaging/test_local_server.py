"""The local nats-server: it keeps what it acknowledged, guards its directory and never outlives its owner."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import nats
import pytest

from shared.messaging.handshake import answers
from shared.messaging.local_server import LocalNatsServer, ServerNotStarted, StoreTaken
from tests.support.children import is_alive, wait_until_gone

OWNER = """
import sys
from pathlib import Path
from shared.messaging.local_server import LocalNatsServer
server = LocalNatsServer(Path(sys.argv[1]))
server.start()
print(server.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LocalNatsServer]:
    with LocalNatsServer(tmp_path) as running:
        yield running


def port_of(server: LocalNatsServer) -> int:
    return int(server.url.rpartition(":")[2])


async def publish(url: str, count: int) -> int:
    """Store `count` messages; returns how many the stream holds then."""
    connection = await nats.connect(url)
    try:
        stream = connection.jetstream()
        await stream.add_stream(name="KEPT", subjects=["kept.*"])
        for number in range(count):
            await stream.publish(f"kept.{number}", b"body")
        return (await stream.stream_info("KEPT")).state.messages
    finally:
        await connection.close()


async def test_a_killed_server_comes_back_at_the_same_address_with_every_message(server: LocalNatsServer) -> None:
    address = server.url
    assert await publish(address, 20) == 20

    server.kill()
    assert not server.is_running()
    server.start()

    assert server.url == address
    assert await publish(address, 5) == 25


def test_a_server_that_somebody_else_killed_is_seen_as_ended_and_can_be_started(server: LocalNatsServer) -> None:
    first = server.pid
    os.kill(first, signal.SIGKILL)
    assert server.wait(timedelta(seconds=10)) is True
    assert not server.is_running()

    server.start()

    assert server.is_running()
    assert server.pid != first


def test_a_client_without_the_token_is_turned_away(server: LocalNatsServer) -> None:
    assert answers(port_of(server), "not the token") is False
    assert answers(port_of(server), server.url.removeprefix("nats://").partition("@")[0]) is True


def test_the_token_is_readable_by_the_owner_alone(server: LocalNatsServer, tmp_path: Path) -> None:
    assert server.is_running()
    assert stat.S_IMODE((tmp_path / "nats.conf").stat().st_mode) == 0o600


def test_a_directory_in_use_is_refused_by_name(
    server: LocalNatsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.messaging.local_server.LOCK_DEADLINE", timedelta(milliseconds=50))

    with pytest.raises(StoreTaken, match=str(tmp_path)):
        LocalNatsServer(tmp_path).start()

    assert server.is_running()


def test_a_stopped_server_frees_its_directory(tmp_path: Path) -> None:
    with LocalNatsServer(tmp_path) as first:
        assert first.is_running()
    with LocalNatsServer(tmp_path) as second:
        assert second.is_running()


def test_a_server_that_ends_at_once_is_reported_with_what_it_printed(tmp_path: Path) -> None:
    program = tmp_path / "broken-nats"
    program.write_text("#!/bin/sh\necho 'no space left'\nexit 3\n")
    program.chmod(0o755)

    with pytest.raises(ServerNotStarted, match=r"(?s)ended with code 3.*no space left"):
        LocalNatsServer(tmp_path / "store", program=program).start()


def test_a_server_ends_with_its_killed_owner(tmp_path: Path) -> None:
    server_pid = start_and_kill_an_owner(tmp_path)

    wait_until_gone(server_pid)


def test_a_successor_waits_for_a_predecessor_that_is_still_ending(tmp_path: Path) -> None:
    start_and_kill_an_owner(tmp_path)

    with LocalNatsServer(tmp_path) as successor:
        assert successor.is_running()


def start_and_kill_an_owner(directory: Path) -> int:
    """Have another program start a server and kill that program; the number of the server it leaves."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(directory)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with owner:
        assert owner.stdout is not None
        server_pid = int(owner.stdout.readline())
        assert is_alive(server_pid)
        owner.kill()
    return server_pid
