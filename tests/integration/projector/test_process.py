"""The process as it is really run: it ends when it is asked to, whatever it waits for."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from shared.database.settings import DatabaseSettings

ROOT = Path(__file__).parents[3]
DEAD_BROKER = "nats://127.0.0.1:1"


def test_it_ends_in_good_order_while_the_broker_is_away(sqlite: DatabaseSettings, tmp_path: Path) -> None:
    environment = os.environ | {
        "KNOWGATE_DATABASE_URL": sqlite.url.get_secret_value(),
        "KNOWGATE_NATS_URL": DEAD_BROKER,
        "KNOWGATE_FILES_URL": "memory:///",
    }
    log = tmp_path / "log"
    with log.open("wb") as output:
        projector = subprocess.Popen(
            [sys.executable, "-m", "services.projector.main"], cwd=ROOT, env=environment, stdout=output, stderr=output
        )
        try:
            wait_for(log, "messaging.connection.error")
            projector.send_signal(signal.SIGTERM)
            assert projector.wait(10) == 0
        finally:
            projector.kill()
            projector.wait()
    assert "projector.stopped" in log.read_text()


def wait_for(log: Path, event: str) -> None:
    """Wait until a log event was written."""
    deadline = time.monotonic() + 20
    while event not in log.read_text():
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)
