"""A cluster of nats-servers on this machine, any of which a test may kill, stop and bring back."""

import asyncio
import json
import secrets
import signal
import socket
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from nats.errors import Error as NatsError

from shared.contracts.catalogue import Stream
from shared.messaging.bound_child import BoundChild
from shared.messaging.connection import Connection
from shared.messaging.handshake import answers
from shared.messaging.local_server import find_program

SIZE: Final = 3
READY_WITHIN: Final = timedelta(seconds=60)
POLL: Final = timedelta(milliseconds=50)
ENDS_WITHIN: Final = timedelta(seconds=10)


class Node:
    """One server of the cluster, on a directory and ports of its own."""

    def __init__(self, directory: Path, *, name: str, token: str, port: int, route: int) -> None:
        self.name = name
        self.port = port
        self.route = route
        self._directory = directory
        self._token = token
        self._child: BoundChild | None = None

    @property
    def is_running(self) -> bool:
        """Whether its process is alive."""
        return self._child is not None and self._child.is_running()

    @property
    def pid(self) -> int:
        """Its process number."""
        if self._child is None:
            raise RuntimeError("the node was never started")
        return self._child.pid

    def start(self, routes: Sequence[int]) -> None:
        """Start it, and return without waiting until it answers."""
        self._directory.mkdir(parents=True, exist_ok=True)
        configuration = self._directory / "nats.conf"
        configuration.write_text(self._configuration(routes))
        log = self._directory / "nats.log"
        self._child = BoundChild([str(find_program()), "-c", str(configuration)], output=log)

    def answers(self) -> bool:
        """Whether it is part of a cluster that takes requests."""
        return self.is_running and answers(self.port, self._token)

    def end(self, by: signal.Signals = signal.SIGKILL) -> None:
        """End it as a crash would, or in order."""
        if self._child is not None and self._child.is_running():
            self._child.stop(within=ENDS_WITHIN, by=by)

    def _configuration(self, routes: Sequence[int]) -> str:
        return f"""\
server_name: "{self.name}"
listen: "127.0.0.1:{self.port}"
max_payload: 4MB
authorization {{ token: "{self._token}" }}
cluster {{
  name: "knowgate"
  listen: "127.0.0.1:{self.route}"
  routes: {json.dumps([f"nats://127.0.0.1:{port}" for port in routes])}
}}
jetstream {{
  store_dir: {json.dumps(str(self._directory))}
  max_memory_store: 256MB
  max_file_store: 10GB
  sync_interval: 10s
}}
"""


class LocalCluster:
    """Three servers that replicate streams among themselves, up inside its `with` block."""

    def __init__(self, directory: Path) -> None:
        self._token = secrets.token_urlsafe(24)
        ports = free_ports(2 * SIZE)
        self.nodes = [
            Node(directory / f"node-{n}", name=f"node-{n}", token=self._token, port=ports[n], route=ports[SIZE + n])
            for n in range(SIZE)
        ]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Where clients connect, token included."""
        return ",".join(f"nats://{self._token}@127.0.0.1:{node.port}" for node in self.nodes)

    def start(self) -> None:
        """Start every node that does not run, and return when all of them take requests."""
        for node in self.nodes:
            if not node.is_running:
                node.start([other.route for other in self.nodes])
        deadline = time.monotonic() + READY_WITHIN.total_seconds()
        while not all(node.answers() for node in self.nodes):
            assert time.monotonic() < deadline, "the cluster does not come up"
            time.sleep(POLL.total_seconds())

    def stop(self) -> None:
        """End every node."""
        for node in self.nodes:
            node.end()

    async def leader_of(self, stream: Stream, connection: Connection) -> Node:
        """The node that leads a stream, as soon as one does."""
        deadline = time.monotonic() + READY_WITHIN.total_seconds()
        while True:
            assert time.monotonic() < deadline, "nobody leads the stream"
            name = await _leader(stream, connection)
            for node in self.nodes:
                if node.name == name and node.is_running:
                    return node
            await asyncio.sleep(POLL.total_seconds())


async def _leader(stream: Stream, connection: Connection) -> str | None:
    try:
        seen = await connection.jetstream.stream_info(stream.value)
    except (NatsError, TimeoutError, OSError):
        return None  # nobody leads, or nobody answers: it is asked again
    return None if seen.cluster is None else seen.cluster.leader


def free_ports(number: int) -> list[int]:
    """So many different ports that nobody listens on."""
    with ExitStack() as open_until_all_are_chosen:
        probes = [open_until_all_are_chosen.enter_context(closing(socket.socket())) for _ in range(number)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
