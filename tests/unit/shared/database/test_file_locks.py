"""The two file locks: one writer at a time, waiting that ends, and nothing left behind by one that is gone."""

import threading
import time
from pathlib import Path

import pytest

from shared.database.file_locks import WriteTurns
from shared.domain.errors import StoreUnavailable


def soon() -> float:
    """A time at which waiting ends almost at once."""
    return time.monotonic() + 0.02


def later() -> float:
    """A time that is far enough away."""
    return time.monotonic() + 10


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "knowgate.db"


def test_the_locks_lie_beside_the_database(file: Path) -> None:
    with WriteTurns(file).turn(later()):
        assert {path.name for path in file.parent.iterdir()} == {"knowgate.db.gate", "knowgate.db.write"}


def test_a_second_one_waits_and_gives_up_in_time_and_gets_its_turn_afterwards(file: Path) -> None:
    one, two = WriteTurns(file), WriteTurns(file)
    with one.turn(later()), pytest.raises(StoreUnavailable), two.turn(soon()):
        pass
    with two.turn(soon()):
        pass


def test_one_that_gave_up_at_the_second_lock_lets_go_of_the_first(file: Path) -> None:
    one, two, three = WriteTurns(file), WriteTurns(file), WriteTurns(file)
    with one.turn(later()):
        with pytest.raises(StoreUnavailable), two.turn(soon()):
            pass
        with pytest.raises(StoreUnavailable), three.turn(soon()):
            pass
    with three.turn(soon()), pytest.raises(StoreUnavailable), one.turn(soon()):
        pass


def test_a_turn_ends_with_an_error_and_with_the_close_of_its_files(file: Path) -> None:
    one, two = WriteTurns(file), WriteTurns(file)
    with pytest.raises(ZeroDivisionError), one.turn(later()):
        raise ZeroDivisionError
    with two.turn(soon()):
        two.close()
        with one.turn(soon()):
            pass


def test_a_time_that_has_passed_still_is_one_try(file: Path) -> None:
    with WriteTurns(file).turn(time.monotonic() - 1):
        pass


def test_a_folder_that_cannot_be_written_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable), WriteTurns(tmp_path / "absent" / "knowgate.db").turn(later()):
        pass


def test_of_many_threads_one_writes_at_a_time(file: Path) -> None:
    inside, seen = 0, []

    def write() -> None:
        nonlocal inside
        turns = WriteTurns(file)
        for _ in range(5):
            with turns.turn(later()):
                inside += 1
                seen.append(inside)
                inside -= 1

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [1] * 20
