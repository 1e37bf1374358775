"""Large files: they go on where a killed api left them, and no process holds them."""

import hashlib
import os
import signal
from collections.abc import AsyncIterator, Callable
from datetime import timedelta

import httpx
import pytest

from services.cli.access import opened
from services.cli.load.memory import MIB, Peak, resident_mib
from services.cli.settings import CliSettings
from services.cli.stack import Stack
from shared.client.exchange import Patience
from shared.client.resumable import PIECE_BYTES, OpenContent
from shared.contracts.files import FileResource

PATIENCE = Patience(attempts=30, longest_wait=timedelta(seconds=1))
LINE = b"The log tells nothing but its own place in the file: %015d.\n"
MOST_GROWTH_MIB = 64
ALWAYS, NEVER = 0, 1 << 40


def text(size: int, reached: Callable[[int], None] = lambda _: None) -> OpenContent:
    """So much plain text; `reached` is told how far it has been read."""

    async def read() -> AsyncIterator[bytes]:
        for start in range(0, size, MIB):
            yield (LINE % start * (MIB // 60 + 1))[: min(MIB, size - start)]
            reached(start)

    return read


async def digest(content: OpenContent) -> str:
    found = hashlib.sha256()
    async for piece in content():
        found.update(piece)
    return found.hexdigest()


async def send(
    stack: Stack, size: int, *, resumable_above: int, reached: Callable[[int], None] = lambda _: None
) -> FileResource:
    access = stack.access(CliSettings(url=None, resumable_above=resumable_above))
    async with opened(access, patience=PATIENCE) as client:
        return await client.files.upload("large.txt", text(size, reached), size=size)


def uploaded_bytes(stack: Stack) -> float:
    """What this api process has received of files."""
    answer = httpx.get(f"{stack.record().url}/metrics", timeout=10, trust_env=False)
    lines = [line for line in answer.text.splitlines() if line.startswith("knowgate_api_uploaded_bytes_total ")]
    return float(lines[0].split()[1])


async def test_an_upload_goes_on_where_a_killed_api_left_it(own_stack: Stack) -> None:
    size = 5 * PIECE_BYTES
    first = own_stack.record().children["api"]
    killed: list[int] = []

    def kill_once(reached: int) -> None:
        if reached >= 3 * PIECE_BYTES and not killed:
            killed.append(first)
            os.kill(first, signal.SIGKILL)

    file = await send(own_stack, size, resumable_above=ALWAYS, reached=kill_once)

    assert killed == [first]
    assert own_stack.record().children["api"] != first
    assert (file.file_size, file.sha256) == (size, await digest(text(size)))
    assert uploaded_bytes(own_stack) <= 2 * PIECE_BYTES
    assert [path.stat().st_size for path in own_stack.home.objects.rglob("*") if path.is_file()] == [size]


@pytest.mark.parametrize("resumable_above", [ALWAYS, NEVER], ids=["in pieces", "at once"])
async def test_no_process_holds_a_large_file(stack: Stack, resumable_above: int) -> None:
    api = stack.record().children["api"]
    await send(stack, MIB, resumable_above=resumable_above)  # what a first upload loads is no growth
    peak = Peak(lambda: resident_mib([api]))

    with peak.watched():
        file = await send(stack, 200 * MIB, resumable_above=resumable_above)

    assert file.file_size == 200 * MIB
    assert peak.mib - peak.before < MOST_GROWTH_MIB
