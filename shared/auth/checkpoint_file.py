"""The file of checkpoints: one JSON object a line, appended and on the disk before anybody is told.

A crash may leave the last line torn. It was no checkpoint yet: readers pass over it, and the next append removes it.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog
from pydantic import ValidationError

from shared.contracts.audit_messages import CheckpointSigned

log = structlog.get_logger()

NEWLINE: Final = b"\n"
BLOCK: Final = 4096


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that is no checkpoint. `is_torn`: it is the last one and has no end."""

    number: int
    is_torn: bool


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    """One file, which is made when something is appended."""

    path: Path

    def append(self, checkpoints: Sequence[CheckpointSigned]) -> None:
        """Add lines; they are on the disk when this returns."""
        text = b"".join(checkpoint.to_json() + NEWLINE for checkpoint in checkpoints)
        is_new = not self.path.exists()
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "r+b") as file:
            end = _end_of_last_line(file.fileno())
            if end < file.seek(0, os.SEEK_END):
                log.warning("audit.checkpoint.torn", path=str(self.path), bytes=file.tell() - end)
                file.truncate(end)
            file.seek(end)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if is_new:
            _sync_directory(self.path.parent)

    def read(self) -> Iterator[tuple[int, CheckpointSigned | Unreadable]]:
        """Every line with its number, one at a time."""
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    yield number, CheckpointSigned.model_validate_json(line)
                except ValidationError:
                    yield number, Unreadable(number, is_torn=not line.endswith(NEWLINE))


def _end_of_last_line(descriptor: int) -> int:
    """Where the last whole line ends; what is behind it was not written to its end."""
    end = os.fstat(descriptor).st_size
    while end > 0:
        start = max(0, end - BLOCK)
        place = os.pread(descriptor, end - start, start).rfind(NEWLINE)
        if place >= 0:
            return start + place + 1
        end = start
    return 0


def _sync_directory(directory: Path) -> None:
    """A new file is lost in a power cut until its directory is on the disk."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
