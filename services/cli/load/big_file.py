"""One big file, made up on the way, streamed to the gateway; the api must not hold it."""

import hashlib
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
from rich.console import Console

from services.cli.access import Access, opened
from services.cli.complaints import Complaint
from services.cli.load.memory import MIB, Peak, resident_mib
from services.cli.settings import CliSettings
from services.cli.stack import Stack
from shared.contracts.files import FileResource
from shared.contracts.wire import Wire

MOST_GROWTH_MIB = 64
PIECE = MIB
LIMIT_SETTING = "KNOWGATE_FILES_MAX_BYTES"


class BigFile(Wire):
    """The figures of one upload."""

    bytes: int
    seconds: float
    api_rss_growth_mib: float


def run_big_file(size: int, settings: CliSettings, console: Console) -> BigFile:
    """Come up in a temporary home, upload `size` bytes of text, compare what has arrived, go down.

    They go up in one request, however many they are: what is measured is the way on which nothing bounds a body.
    """
    with (
        tempfile.TemporaryDirectory(prefix="knowgate-load-") as directory,
        Stack(Path(directory), variables={LIMIT_SETTING: str(size)}) as stack,
    ):
        api = stack.record().children["api"]
        access = stack.access(settings.model_copy(update={"resumable_above": size}))
        anyio.run(_upload, access, PIECE, console)  # what a first upload loads is no growth
        peak = Peak(lambda: resident_mib([api]))
        started = time.monotonic()
        with peak.watched():
            anyio.run(_upload, access, size, console)
        seconds = time.monotonic() - started
    return BigFile(bytes=size, seconds=round(seconds, 1), api_rss_growth_mib=round(peak.mib - peak.before, 1))


async def _upload(access: Access, size: int, console: Console) -> FileResource:
    digest = hashlib.sha256()

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal digest
        digest, sent = hashlib.sha256(), 0
        while sent < size:
            piece = _text(sent)[: size - sent]
            digest.update(piece)
            sent += len(piece)
            yield piece

    async with opened(access) as client:
        resource = await client.files.upload("big.txt", pieces, size=size)
    if resource.sha256 != digest.hexdigest() or resource.file_size != size:
        raise Complaint("What the gateway has stored is not what was sent.")
    console.print(f"{size} bytes stored as {resource.file_resource_id}")
    return resource


def _text(offset: int) -> bytes:
    """A mebibyte of plain text that differs from every other."""
    line = f"At offset {offset:015d} the log tells nothing but its own place in the file.\n".encode()
    return (line * (PIECE // len(line) + 1))[: PIECE - 1] + b"\n"
