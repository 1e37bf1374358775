"""The process as it is really run: its own interpreter, a socket, signals."""

import json
import os
import shutil
import signal
import socket
import sqlite3
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from shared.auth.development import DevelopmentIssuer
from shared.auth.service_tokens import digest_of
from shared.contracts.enums import Step
from shared.messaging.bound_child import BoundChild
from shared.telemetry.stamps import utc_now
from tests.integration.api.harness import TOKEN, free_port, space_request

PATIENCE = timedelta(seconds=30)
MIB = 1024**2
ROOT = Path(__file__).parents[3]
DEAD_BROKER = "nats://127.0.0.1:1"


def environment(home: Path, port: int, broker: str) -> dict[str, str]:
    """The settings of one api."""
    tokens = [{"service": "harness", "sha256": digest_of(TOKEN).hex()}]
    return {
        "KNOWGATE_API_PORT": str(port),
        "KNOWGATE_DATABASE_URL": f"sqlite:///{home / 'knowgate.db'}",
        "KNOWGATE_FILES_URL": (home / "objects").as_uri(),
        "KNOWGATE_NATS_URL": broker,
        "KNOWGATE_AUTH_KEY_DIRECTORY": str(home / "keys"),
        "KNOWGATE_AUTH_DEVELOPMENT_ISSUER": "true",
        "KNOWGATE_AUTH_SERVICE_TOKENS": json.dumps(tokens),
        "KNOWGATE_PROVIDER_KIND": "scripted",
        "KNOWGATE_PROVIDER_SCRIPTED_PATH": str(home / "scripted.db"),
    }


def start(home: Path, variables: dict[str, str]) -> BoundChild:
    """The process, as a launcher would start it."""
    command = (sys.executable, "-m", "services.api.main")
    return BoundChild(command, output=home / "api.log", environment=variables, directory=ROOT)


class Process:
    """One api process on a home of its own."""

    def __init__(self, home: Path, broker: str) -> None:
        self.home = home
        self.port = free_port()
        self.issuer = DevelopmentIssuer(home / "keys")
        self.child = start(home, environment(home, self.port, broker))
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", trust_env=False, timeout=30)

    def headers(self, **more: str) -> dict[str, str]:
        assertion = self.issuer.mint(
            audience="knowgate",
            tenant="acme",
            subject="alice",
            session_id="s-1",
            now=utc_now(),
            roles=["knowledge-admin"],
            domains=["general"],
        )
        return {
            "Authorization": f"Bearer {TOKEN}",
            "X-User-Assertion": assertion,
            "X-Harness-Session-Id": "s-1",
            "X-Tool-Call-Id": "c-1",
            "X-Request-Id": "r-1",
            **more,
        }

    def wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + PATIENCE.total_seconds()
        while True:
            try:
                self.http.get("/livez")
            except httpx.TransportError:
                assert self.child.is_running(), (self.home / "api.log").read_text()
                assert time.monotonic() < deadline, (self.home / "api.log").read_text()
                time.sleep(0.05)
            else:
                return

    def resident_bytes(self) -> int:
        for line in Path(f"/proc/{self.child.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("no such process")

    def close(self) -> None:
        self.http.close()
        if self.child.is_running():
            self.child.kill()


@pytest.fixture
def home(migrated: Path, tmp_path: Path) -> Path:
    """A folder with a migrated database."""
    shutil.copy(migrated, tmp_path / "knowgate.db")
    return tmp_path


@pytest.fixture(scope="module")
def alone(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A process without a broker."""
    folder = tmp_path_factory.mktemp("alone")
    shutil.copy(migrated, folder / "knowgate.db")
    process = Process(folder, DEAD_BROKER)
    process.wait_until_it_answers()
    yield process
    process.close()


def test_it_serves_without_a_broker_and_says_what_is_missing(alone: Process) -> None:
    ready = alone.http.get("/readyz")
    created = alone.http.post(
        "/internal/v1/knowledge/spaces", headers=alone.headers(**{"Idempotency-Key": "k-1"}), json=space_request()
    )

    assert ready.status_code == 503
    assert ready.json() == {
        "database": "ok",
        "broker": "failed",
        "files": "ok",
        "provider": "ok",
        "workers": "failed",
        **{f"workers.{step.value}": "failed" for step in Step},
    }
    assert created.status_code == 201, created.text
    assert created.headers["x-request-id"] == "r-1"


def test_a_large_file_streams_through_without_staying_in_memory(alone: Process) -> None:
    piece = b"Trains go before planes, always and everywhere.\n" * 21_845  # about a megabyte
    headers = alone.headers(**{"X-File-Name": "large.txt"})
    assert alone.http.post("/internal/v1/files", headers=headers, content=piece).status_code == 201
    before = alone.resident_bytes()

    answer = alone.http.post("/internal/v1/files", headers=headers, content=(piece for _ in range(300)))

    assert answer.status_code == 201, answer.text
    assert answer.json()["data"]["fileSize"] == 300 * len(piece)
    assert alone.resident_bytes() - before < 64 * MIB


def everything_from(raw: socket.socket) -> str:
    """What comes until the other side has answered in full."""
    received = b""
    while b"}}" not in received and (piece := raw.recv(65_536)):
        received += piece
    return received.decode()


def test_a_file_that_is_too_large_is_refused_before_any_of_it_is_sent(alone: Process) -> None:
    headers = alone.headers(**{"X-File-Name": "a.txt", "Content-Length": str(10**13), "Host": "gateway"})
    lines = ["POST /internal/v1/files HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]

    with closing(socket.create_connection(("127.0.0.1", alone.port), timeout=10)) as raw:
        raw.sendall("\r\n".join(lines).encode())
        answer = everything_from(raw)

    assert answer.startswith("HTTP/1.1 413 ")
    assert '"code":"FILE_TOO_LARGE"' in answer


def test_ids_are_split_from_actions_before_they_are_decoded(alone: Process) -> None:
    headers = alone.headers(**{"Idempotency-Key": "k-1"})
    path = "/internal/v1/knowledge/documents/"

    replaced = alone.http.post(f"{path}doc%3A1%2Fx:replace", headers=headers, json={})
    no_action = alone.http.post(f"{path}doc_1%3Areplace", headers=headers, json={})

    assert (replaced.status_code, no_action.status_code) == (422, 405)


def test_a_stop_is_graceful_and_leaves_nothing_unwritten(home: Path) -> None:
    with closing(Process(home, DEAD_BROKER)) as process:
        process.wait_until_it_answers()
        for _ in range(5):
            process.http.post("/internal/v1/knowledge/search", headers=process.headers(), json={"query": "anything"})

        os.kill(process.child.pid, signal.SIGTERM)
        process.child.wait(PATIENCE)

        assert process.child.exit_code == 0, (home / "api.log").read_text()
    with closing(sqlite3.connect(home / "knowgate.db")) as database:
        count = database.execute("SELECT count(*) FROM audit_entry WHERE action = 'knowledge_search'").fetchone()[0]
    assert count == 5


def an_operation(process: Process) -> str:
    """The id of an operation that nobody works on."""
    headers = process.headers(**{"Idempotency-Key": "k-1"})
    process.http.post("/internal/v1/knowledge/spaces", headers=headers, json=space_request())
    with closing(sqlite3.connect(process.home / "knowgate.db")) as database:
        return str(database.execute("SELECT id FROM operation").fetchone()[0])


def wait_for(process: Process, operation_id: str) -> httpx.Response:
    path = f"/internal/v1/knowledge/operations/{operation_id}"
    return process.http.get(path, headers=process.headers(), params={"wait": 30})


def follow(process: Process) -> str:
    with process.http.stream("GET", "/internal/v1/events", headers=process.headers()) as stream:
        return "".join(stream.iter_text())


def test_a_stop_answers_at_once_whoever_waits_and_ends_streams(home: Path) -> None:
    process = Process(home, DEAD_BROKER)
    with ThreadPoolExecutor() as threads, closing(process):
        process.wait_until_it_answers()
        operation_id = an_operation(process)
        waiting = threads.submit(wait_for, process, operation_id)
        following = threads.submit(follow, process)
        deadline = time.monotonic() + PATIENCE.total_seconds()
        while "knowgate_api_requests_in_flight 3.0" not in process.http.get("/metrics").text:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.kill(process.child.pid, signal.SIGTERM)

        assert waiting.result(PATIENCE.total_seconds()).json()["data"]["status"] == "PENDING"
        assert following.result(PATIENCE.total_seconds()).startswith("retry: 2000\n")
        process.child.wait(PATIENCE)
        assert process.child.exit_code == 0, (home / "api.log").read_text()
        assert "graceful shutdown exceeded" not in (home / "api.log").read_text()


def test_it_publishes_and_hears_over_a_real_broker(home: Path, nats_url: str) -> None:
    process = Process(home, nats_url)
    try:
        process.wait_until_it_answers()
        deadline = time.monotonic() + PATIENCE.total_seconds()
        while process.http.get("/readyz").json()["broker"] != "ok":
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        process.close()


def test_it_refuses_to_start_on_a_network_with_development_credentials(home: Path) -> None:
    on_network = {"KNOWGATE_API_HOST": "0.0.0.0", "KNOWGATE_PUBLIC_URL": "https://gateway.example"}
    child = start(home, environment(home, free_port(), DEAD_BROKER) | on_network)

    child.wait(PATIENCE)

    assert child.exit_code == 78
    assert "development_issuer" in (home / "api.log").read_text()
