"""Several processes write one SQLite file: in turns, without errors, and one that is killed loses nothing committed."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from shared.database.database import Database
from shared.database.operations import insert_operations, load_operations
from shared.database.settings import DatabaseSettings
from shared.database.sql import run
from tests.integration.database.samples import an_operation

ROOT = Path(__file__).parents[3]
Opener = Callable[[DatabaseSettings], Database]


def start(settings: DatabaseSettings, name: str, number: int) -> "subprocess.Popen[str]":
    """Start a process that writes."""
    module = "tests.integration.database.writing_process"
    arguments = [sys.executable, "-m", module, settings.url.get_secret_value(), name, str(number)]
    return subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_processes_that_write_at_once_take_turns_and_none_finds_the_database_locked(
    sqlite: DatabaseSettings, opened: Opener
) -> None:
    writers = [start(sqlite, name, 80) for name in ("a", "b", "c")]
    ended = [writer.communicate(timeout=100) for writer in writers]
    assert [(writer.returncode, errors) for writer, (_, errors) in zip(writers, ended, strict=True)] == [(0, "")] * 3
    total = opened(sqlite).read_blocking(lambda conn: run(conn, "SELECT count(*) FROM operation").scalar_one())
    assert total == 240


def test_a_process_that_is_killed_loses_nothing_that_was_committed_and_blocks_nobody(
    sqlite: DatabaseSettings, opened: Opener
) -> None:
    writer = start(sqlite, "a", 100_000)
    assert writer.stdout is not None
    told = [writer.stdout.readline().strip() for _ in range(50)]
    writer.kill()
    told += writer.communicate(timeout=10)[0].splitlines()
    whole = [line for line in told if len(line) == len("op_a_00000")]
    database = opened(sqlite)
    database.write_blocking(lambda conn: insert_operations(conn, [an_operation("op_after", None)]))
    found = database.read_blocking(lambda conn: load_operations(conn, [*whole, "op_after"]))
    assert set(found) == {*whole, "op_after"}
    assert database.read_blocking(lambda conn: run(conn, "PRAGMA integrity_check").scalar_one()) == "ok"
