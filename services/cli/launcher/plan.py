"""What a launch consists of: which units, in which order they start, and how long each may take to stop."""

import socket
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from services.cli.complaints import Complaint
from services.cli.launcher.environment import BROKER_URL, LOOPBACK, Environment
from services.cli.supervision.supervisor import Stage
from services.cli.supervision.units import BrokerUnit, Service, ServiceUnit, Unit
from shared.messaging.local_server import LocalNatsServer

API: Final = "services.api.main"
WORKER: Final = "services.worker.main"
PROJECTOR: Final = "services.projector.main"

BROKER_STOPS_WITHIN: Final = timedelta(seconds=10)
PROJECTOR_STOPS_WITHIN: Final = timedelta(seconds=15)
WORKER_STOPS_WITHIN: Final = timedelta(seconds=30)
API_STOPS_WITHIN: Final = timedelta(seconds=20)

USUAL_PORT: Final = 8080


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How many of each there are."""

    workers: int = 1
    projectors: int = 1


def service_stages(environment: Environment, sizes: Sizes, broker_url: str, lock: int) -> list[Stage]:
    """The services, in the order of their start: who is stopped last is there first."""
    logs = environment.home.logs

    def service(name: str, module: str, variables: dict[str, str]) -> ServiceUnit:
        return ServiceUnit(
            Service(name=name, module=module, environment=variables, log=logs / f"{name}.log", keep_open=(lock,))
        )

    projecting = environment.of_projector(broker_url, is_only_one=sizes.projectors == 1)
    projectors = [service(name, PROJECTOR, projecting) for name in _names("projector", sizes.projectors)]
    working = environment.of_worker(broker_url)
    workers = [service(name, WORKER, working) for name in _names("worker", sizes.workers)]
    api = service("api", API, environment.of_api(broker_url))
    return [
        Stage(units=projectors, stop_within=PROJECTOR_STOPS_WITHIN),
        Stage(units=workers, stop_within=WORKER_STOPS_WITHIN),
        Stage(units=[api], stop_within=API_STOPS_WITHIN),
    ]


def broker_stage(environment: Environment, server: LocalNatsServer) -> Stage:
    """The message broker of this machine, which every service needs."""
    units: Sequence[Unit] = [BrokerUnit(server, environment.home.broker / "nats.log")]
    return Stage(units=units, stop_within=BROKER_STOPS_WITHIN)


def given_broker(environment: Environment) -> str:
    """The address of the broker that the person has set."""
    return environment.outer[BROKER_URL]


def choose_port(wanted: int | None) -> int:
    """The wanted port; the usual one when none is wanted, or another when that is taken or 0 is wanted."""
    if wanted is None:
        return USUAL_PORT if is_free(USUAL_PORT) else _free_port()
    if wanted == 0:
        return _free_port()
    if not is_free(wanted):
        raise Complaint(f"Port {wanted} is taken.", "Stop what uses it, or choose another one with --port.")
    return wanted


def is_free(port: int) -> bool:
    """Whether the port can be listened on."""
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def _names(kind: str, count: int) -> list[str]:
    return [kind] if count == 1 else [f"{kind}-{number}" for number in range(1, count + 1)]


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port
