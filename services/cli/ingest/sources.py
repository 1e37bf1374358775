"""Finds the files that a person has named, alone or in directories, and names each for the gateway."""

import hashlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread

from services.cli.complaints import Complaint

LONGEST_NAME = 255
"""Code points of a document's name, and of a file's."""
PIECE = 256 * 1024


@dataclass(frozen=True, slots=True)
class Source:
    """A file to ingest; `name` is what the document will be called."""

    path: Path
    """Absolute, with symbolic links followed."""
    name: str


def find_sources(paths: Iterable[Path]) -> list[Source]:
    """Every file of the paths, directories with all that is in them but hidden names, each file once, in order."""
    found: dict[Path, Source] = {}
    for path in paths:
        for source in _sources_of(path):
            found.setdefault(source.path, source)
    return list(found.values())


def _sources_of(path: Path) -> Iterator[Source]:
    if path.is_dir():
        for file in sorted(_files_in(path, seen=frozenset())):
            yield Source(file.resolve(), shown_name(file.relative_to(path)))
    elif path.is_file():
        yield Source(path.resolve(), shown_name(Path(path.name)))
    elif path.exists():
        raise Complaint(f"{path} is neither a file nor a directory.")
    else:
        raise Complaint(f"{path} does not exist.", "Check the spelling.")


def _files_in(directory: Path, seen: frozenset[Path]) -> Iterator[Path]:
    """A directory that is linked into itself is not entered again."""
    real = directory.resolve()
    if real in seen:
        return
    try:
        entries = list(directory.iterdir())
    except PermissionError:
        raise Complaint(f"{directory} may not be read.", "Change its permissions, or leave it out.") from None
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _files_in(entry, seen | {real})
        elif entry.is_file():
            yield entry


def shown_name(path: Path) -> str:
    """The name of a document made of the file at this relative path: its end when it is too long."""
    return written(path)[-LONGEST_NAME:]


def written(path: Path) -> str:
    """A path as text that can be sent; bytes that are no text become a mark."""
    return path.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")


async def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""

    def digest() -> str:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    return await anyio.to_thread.run_sync(digest)


async def pieces_of(path: Path, sent: Callable[[int], None]) -> AsyncIterator[bytes]:
    """A file's content piece by piece; `sent` is told the bytes so far."""
    total = 0
    async with await anyio.open_file(path, "rb") as file:
        while piece := await file.read(PIECE):
            yield piece
            total += len(piece)
            sent(total)
