"""Reads what children add to their logs, and makes short lines of what people should see."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

LOUD: Final = frozenset({"warning", "error", "critical"})
ROUTINE: Final = frozenset({"event", "level", "logger", "service", "timestamp", "exception"})
LONGEST: Final = 300


class LogLine(BaseModel):
    """One log event; what else it tells stands beside these."""

    model_config = ConfigDict(frozen=True, extra="allow")

    level: str
    event: str

    @property
    def is_loud(self) -> bool:
        """Whether people should see it."""
        return self.level in LOUD

    @property
    def is_warning(self) -> bool:
        """Whether it is no worse than a warning."""
        return self.level == "warning"

    def short(self) -> str:
        """The event with its values, on one line."""
        values = {name: value for name, value in (self.model_extra or {}).items() if name not in ROUTINE}
        told = " ".join(f"{name}={_shown(value)}" for name, value in values.items())
        return f"{self.level} {self.event} {told}"[:LONGEST].rstrip()


class LogTail:
    """Follows one log from its beginning; a file that was begun anew is read from its beginning again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._inode = 0
        self._read = 0
        self._rest = b""

    def loud_lines(self) -> Iterator[LogLine]:
        """The loud ones of the events that were added since the last look."""
        for line in self._new_lines():
            try:
                event = LogLine.model_validate_json(line)
            except ValidationError:
                continue
            if event.is_loud:
                yield event

    def _new_lines(self) -> list[bytes]:
        try:
            with self._path.open("rb") as log:
                inode = self._path.stat().st_ino
                if inode != self._inode:
                    self._inode, self._read, self._rest = inode, 0, b""
                log.seek(self._read)
                added = log.read()
        except FileNotFoundError:
            return []
        self._read += len(added)
        *lines, self._rest = (self._rest + added).split(b"\n")
        return lines


def last_words(log: Path, count: int = 12) -> str:
    """The end of a log, for a child that does not start."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return ""
    return "\n".join(line[:LONGEST] for line in lines[-count:])


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
