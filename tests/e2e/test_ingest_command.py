"""`knowgate ingest` brings every file in once, also when it is killed on the way, and tells what it could not."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from services.cli.load.many_files import write_files
from services.cli.stack import Stack
from tests.e2e.conversation import conversation

FILES = 40
PATIENCE = timedelta(minutes=4)


def command(stack: Stack, files: Path, space: str) -> list[str]:
    """The command line of an ingestion into the stack's gateway."""
    home = str(stack.home.root)
    return [
        sys.executable,
        "-m",
        "services.cli.main",
        "ingest",
        str(files),
        "--space",
        space,
        "--create",
        "--home",
        home,
    ]


def run(stack: Stack, files: Path, space: str) -> "subprocess.CompletedProcess[str]":
    """A whole ingestion."""
    return subprocess.run(
        command(stack, files, space), capture_output=True, text=True, timeout=PATIENCE.total_seconds(), check=False
    )


def kill_after(lines: int, arguments: list[str]) -> None:
    """Begin an ingestion, and kill it when so many files are in."""
    ingestion = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)
    assert ingestion.stderr is not None
    for _ in range(lines):
        assert ingestion.stderr.readline().startswith("✓ ")
    ingestion.kill()
    ingestion.communicate()


async def names_in(stack: Stack, space: str) -> list[str]:
    """The names of all documents of a space."""
    async with conversation(stack, space) as talk:
        return sorted([document.name async for document in talk.client.gateway.all_documents(talk.space_id)])


async def test_a_killed_ingestion_is_resumed_without_sending_anything_twice(stack: Stack, tmp_path: Path) -> None:
    files = tmp_path / "files"
    write_files(files, FILES)

    kill_after(5, command(stack, files, "resumed"))
    second = run(stack, files, "resumed")

    assert second.returncode == 0, second.stderr
    assert f"{FILES} files in " in second.stderr
    assert " 0 failed" in second.stderr
    assert await names_in(stack, "resumed") == sorted(path.name for path in files.iterdir())


async def test_a_second_ingestion_skips_everything(stack: Stack, tmp_path: Path) -> None:
    files = tmp_path / "files"
    write_files(files, 3)
    assert run(stack, files, "skipped").returncode == 0

    again = run(stack, files, "skipped")

    assert again.returncode == 0
    assert "0 ready, 0 replaced, 3 skipped, 0 failed" in again.stderr
    assert len(await names_in(stack, "skipped")) == 3


@pytest.mark.parametrize("name", ["empty.txt", "program.pdf"])
def test_what_cannot_be_taken_is_told_with_its_reason_and_an_exit_code(stack: Stack, tmp_path: Path, name: str) -> None:
    files = tmp_path / "files"
    write_files(files, 1)
    (files / name).write_bytes(b"" if name == "empty.txt" else b"\x7fELF\x02\x01\x01" + bytes(4000))

    outcome = run(stack, files, f"failing-{name.partition('.')[0]}")

    assert outcome.returncode == 1
    assert "1 ready, 0 replaced, 0 skipped, 1 failed" in outcome.stderr
    failed = outcome.stderr.partition("Failed:\n")[2]
    assert str(files / name) in failed
    assert "[" in failed
    assert "Traceback" not in outcome.stderr
