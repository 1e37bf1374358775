"""Finds out when the api and everything behind it is ready."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import httpx
from pydantic import TypeAdapter, ValidationError

READY: Final = 200
LOOK: Final = timedelta(milliseconds=100)
PATIENCE: Final = timedelta(seconds=2)
_PARTS: Final[TypeAdapter[dict[str, str]]] = TypeAdapter(dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """What `/readyz` says: whether everything works, and of each part `ok` or `failed`."""

    is_ready: bool
    parts: Mapping[str, str]

    @property
    def failed(self) -> list[str]:
        """The parts that do not work."""
        return [name for name, state in self.parts.items() if state != "ok"]


def look(url: str) -> Readiness | None:
    """Ask the gateway at `url`; None when nobody answers, or nobody who is a gateway."""
    try:
        answer = httpx.get(f"{url}/readyz", timeout=PATIENCE.total_seconds(), trust_env=False)
        return Readiness(is_ready=answer.status_code == READY, parts=_PARTS.validate_json(answer.content))
    except (httpx.HTTPError, ValidationError):
        return None


class ReadinessWatch:
    """Looks in a thread of its own, because an api that starts may keep a question waiting."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._ready = threading.Event()
        self._stopped = threading.Event()
        self.latest: Readiness | None = None

    @property
    def is_ready(self) -> bool:
        """Whether everything was ready once."""
        return self._ready.is_set()

    def start(self) -> None:
        """Begin to look."""
        threading.Thread(target=self._look_until_ready, name="readiness", daemon=True).start()

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()

    def _look_until_ready(self) -> None:
        while not self._stopped.wait(LOOK.total_seconds()):
            self.latest = look(self._url)
            if self.latest is not None and self.latest.is_ready:
                self._ready.set()
                return
