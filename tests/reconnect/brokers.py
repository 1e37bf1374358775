"""The broker that is restarted: one server, or a cluster of which one node at a time goes down."""

import random
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, Self

from shared.messaging.local_server import LocalNatsServer
from tests.support.cluster import LocalCluster

ORDERLY = 0.1
"""So many of the restarts begin with SIGTERM, all others with SIGKILL."""


class Broker(Protocol):
    """Something that services connect to, up inside its `with` block."""

    def __enter__(self) -> Self:
        """Come up."""

    def __exit__(self, *_: object) -> None:
        """Go down."""

    @property
    def variables(self) -> Mapping[str, str]:
        """The settings with which services find it."""

    def restart(self, dice: random.Random, away: float) -> None:
        """Go down in one way or another, stay away for so many seconds, and come back."""


class OneServer:
    """A nats-server on a directory of its own."""

    def __init__(self, directory: Path) -> None:
        self._server = LocalNatsServer(directory)

    def __enter__(self) -> Self:
        """See `Broker`."""
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        """See `Broker`."""
        self._server.stop()

    @property
    def variables(self) -> Mapping[str, str]:
        """See `Broker`."""
        return {"KNOWGATE_NATS_URL": self._server.url}

    def restart(self, dice: random.Random, away: float) -> None:
        """See `Broker`."""
        if dice.random() < ORDERLY:
            self._server.stop()
        else:
            self._server.kill()
        time.sleep(away)
        self._server.start()


class ThreeServers:
    """A cluster that keeps every stream three times."""

    def __init__(self, directory: Path) -> None:
        self._cluster = LocalCluster(directory)

    def __enter__(self) -> Self:
        """See `Broker`."""
        self._cluster.start()
        return self

    def __exit__(self, *_: object) -> None:
        """See `Broker`."""
        self._cluster.stop()

    @property
    def variables(self) -> Mapping[str, str]:
        """See `Broker`."""
        return {"KNOWGATE_NATS_URL": self._cluster.url, "KNOWGATE_NATS_REPLICAS": "3"}

    def restart(self, dice: random.Random, away: float) -> None:
        """See `Broker`."""
        dice.choice(self._cluster.nodes).end(signal.SIGTERM if dice.random() < ORDERLY else signal.SIGKILL)
        time.sleep(away)
        self._cluster.start()
