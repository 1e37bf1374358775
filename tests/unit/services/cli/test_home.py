"""A home has one launcher at a time, and tells others what runs in it."""

import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from services.cli.home import AlreadyUp, Home, RunRecord

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def record(pid: int) -> RunRecord:
    return RunRecord(pid=pid, url="http://127.0.0.1:8080", started_at=NOON, children={"api": 7})


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


def test_what_runs_can_be_read_until_it_is_removed(home: Home) -> None:
    assert home.read_record() is None

    home.write_record(record(7))
    assert home.read_record() == record(7)

    home.remove_record()
    assert home.read_record() is None


def test_a_record_that_was_cut_is_no_record(home: Home) -> None:
    home.record_file.write_text('{"pid": 7, "url"')

    assert home.read_record() is None


def test_a_second_launcher_is_told_who_is_there(home: Home) -> None:
    home.write_record(record(os.getpid()))

    said = f"already up by process {os.getpid()}, at http://127.0.0.1:8080"
    with home.held(), pytest.raises(AlreadyUp, match=re.escape(said)) as refusal, home.held():
        pytest.fail("two launchers")

    assert "--home" in refusal.value.remedy


def test_a_home_is_free_again_after_its_launcher(home: Home) -> None:
    assert not home.is_up()
    with home.held():
        assert home.is_up()
    with home.held():
        assert home.is_up()
    assert not home.is_up()


def test_only_the_owner_gets_into_a_home(home: Home) -> None:
    assert [path.stat().st_mode & 0o077 for path in (home.root, home.keys, home.logs)] == [0, 0, 0]
