"""What a hostile file can do: fail, and nothing else."""

import asyncio
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from shared.contracts.content_types import ContentType
from shared.contracts.enums import FailureReason
from shared.providers.embedded.children import parser_pool
from shared.providers.embedded.children.child import child_environment
from shared.providers.embedded.children.parser_pool import ParserPool
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.limits import MEBIBYTE, DigestLimits
from tests.integration.engine.corpus import FILES
from tests.integration.engine.running import children
from tests.support.children import is_alive, wait_until_gone
from tests.support.eventually import until

ROOT = Path(__file__).parents[3]
GOOD = FILES / "oncall-en.md"


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """A page nested so deep that reading it takes minutes."""
    path = tmp_path / "deep.html"
    path.write_text("<div>" * 300_000)
    return path


@pytest.fixture
def greedy(tmp_path: Path) -> Path:
    """A small Word file whose tree takes some hundred megabytes."""
    path = tmp_path / "greedy.docx"
    with zipfile.ZipFile(FILES / "hr-zh.docx") as whole, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name in whole.namelist():
            if name != "word/document.xml":
                made.writestr(name, whole.read(name))
        words = "".join(f"<w:p><w:r><w:t>{number}</w:t></w:r></w:p>" for number in range(300_000))
        space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
        made.writestr("word/document.xml", f'<w:document xmlns:w="{space}"><w:body>{words}</w:body></w:document>')
    return path


@asynccontextmanager
async def one_parser(
    *, memory_bytes: int = 2048 * MEBIBYTE, time_limit: timedelta = timedelta(seconds=60), served_at_most: int = 100
) -> AsyncIterator[ParserPool]:
    limits = DigestLimits(memory_bytes=memory_bytes, time=time_limit, text_characters=100_000)
    pool = ParserPool(size=1, limits=limits, served_at_most=served_at_most)
    try:
        yield pool
    finally:
        await pool.close()


def ignore(percent: int) -> None:
    del percent


async def refusal(pool: ParserPool, path: Path, content_type: ContentType) -> FailureReason:
    with pytest.raises(DigestFailed) as failure:
        await pool.parse(path, content_type, ignore)
    return failure.value.reason


async def reads_a_good_file(pool: ParserPool) -> bool:
    parsed = await pool.parse(GOOD, ContentType.MARKDOWN, ignore)
    return len(parsed.chunks) == 7


async def test_a_file_that_takes_too_long_fails_and_its_parser_is_replaced(endless: Path) -> None:
    before = set(children(parser_pool.MODULE))
    async with one_parser(time_limit=timedelta(seconds=1)) as pool:
        assert await refusal(pool, endless, ContentType.HTML) is FailureReason.FILE_TOO_COMPLEX
        assert set(children(parser_pool.MODULE)) == before
    async with one_parser() as pool:
        assert await reads_a_good_file(pool)


async def test_a_file_that_takes_too_much_memory_fails_alone(greedy: Path) -> None:
    async with one_parser(memory_bytes=220 * MEBIBYTE) as pool:
        assert await refusal(pool, greedy, ContentType.DOCX) is FailureReason.FILE_TOO_COMPLEX
        assert await reads_a_good_file(pool)


async def test_a_file_with_too_much_text_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("Words and words. " * 10_000)

    async with one_parser() as pool:
        assert await refusal(pool, path, ContentType.TEXT) is FailureReason.FILE_TOO_LARGE


@pytest.mark.parametrize(
    ("signal_number", "reason"),
    [(signal.SIGSEGV, FailureReason.PARSER_CRASHED), (signal.SIGKILL, FailureReason.FILE_TOO_COMPLEX)],
)
async def test_a_parser_that_dies_fails_its_file_and_is_replaced(
    endless: Path, signal_number: signal.Signals, reason: FailureReason
) -> None:
    others = set(children(parser_pool.MODULE))
    async with one_parser() as pool:
        reading = asyncio.create_task(refusal(pool, endless, ContentType.HTML))
        await until(lambda: bool(set(children(parser_pool.MODULE)) - others))
        (victim,) = set(children(parser_pool.MODULE)) - others
        await asyncio.sleep(0.3)  # So that it is reading, not starting; either way the file fails.
        os.kill(victim, signal_number)

        assert await reading is reason
        assert await reads_a_good_file(pool)


async def test_cancelling_kills_the_parser_at_once(endless: Path) -> None:
    others = set(children(parser_pool.MODULE))
    async with one_parser() as pool:
        reading = asyncio.create_task(pool.parse(endless, ContentType.HTML, ignore))
        await until(lambda: bool(set(children(parser_pool.MODULE)) - others))

        reading.cancel()

        with pytest.raises(asyncio.CancelledError):
            await reading
        assert set(children(parser_pool.MODULE)) == others
        assert await reads_a_good_file(pool)


def test_the_memory_of_a_child_is_not_counted_from_its_parents() -> None:
    held = bytearray(400 << 20)
    held[:: 1 << 12] = b"x" * len(held[:: 1 << 12])
    asked = "from shared.providers.embedded.children.sandbox import peak_memory_bytes; print(peak_memory_bytes())"

    printed = subprocess.run([sys.executable, "-c", asked], capture_output=True, check=True, text=True).stdout

    assert int(printed) < len(held) // 2


async def test_a_parser_serves_many_files_and_is_replaced_after_its_last() -> None:
    others = set(children(parser_pool.MODULE))
    served: list[frozenset[int]] = []
    async with one_parser(served_at_most=2) as pool:
        for _ in range(4):
            assert await reads_a_good_file(pool)
            served.append(frozenset(set(children(parser_pool.MODULE)) - others))

    assert [len(pids) for pids in served] == [1, 0, 1, 0]


def test_children_know_nothing_of_the_settings_of_their_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNOWGATE_SERVICE_TOKEN", "secret")

    environment = child_environment()

    assert not [name for name in environment if name.startswith("KNOWGATE")]
    assert environment["OPENBLAS_NUM_THREADS"] == "1"


def test_children_die_with_their_parent(tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_text("A sentence.")
    command = [sys.executable, "-m", "tests.integration.engine.pool_owning_parent", str(file)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        assert all(map(is_alive, pids))
        parent.kill()

    for pid in pids:
        wait_until_gone(pid)


async def test_the_event_loop_is_never_busy_for_long_while_a_file_is_read(parsers: ParserPool, tmp_path: Path) -> None:
    path = tmp_path / "long.md"
    path.write_text("".join(f"# Part {number}\n\n{'Words and more words. ' * 60}\n\n" for number in range(800)))
    reading = asyncio.create_task(parsers.parse(path, ContentType.MARKDOWN, ignore))
    longest = 0.0

    while not reading.done():
        before = time.thread_time()  # What this thread really computes, however busy the machine is.
        await asyncio.sleep(0.001)
        longest = max(longest, time.thread_time() - before)

    assert len((await reading).chunks) == 1600
    assert longest < 0.05
