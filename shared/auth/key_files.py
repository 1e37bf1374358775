"""Secret files of one machine: made once, whoever comes first, and readable by their owner alone."""

import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

OTHERS = stat.S_IRWXG | stat.S_IRWXO


class KeyFileExposed(Exception):
    """Somebody else may read or change the file, so what it holds is no secret."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} may be read or changed by others. Remove it, or make it private with chmod 600.")


def load_or_create(path: Path, make: Callable[[], bytes]) -> bytes:
    """The file's content; when there is no file, what `make` returns is kept in it first.

    Several processes may come at once: all of them return what one of them made.
    """
    if not path.exists():
        _create(path, make())
    return load_private(path)


def load_private(path: Path) -> bytes:
    """The file's content; KeyFileExposed when others may read or change it."""
    if path.stat().st_mode & OTHERS:
        raise KeyFileExposed(path)
    return path.read_bytes()


def _create(path: Path, content: bytes) -> None:
    """Write it aside in full and link it into place, so that nobody reads half a key or replaces one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
