"""Secret files: made once, private, and the same for everyone who comes."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from shared.auth.key_files import KeyFileExposed, load_or_create


def test_a_file_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "secret"

    assert load_or_create(path, lambda: b"first") == b"first"
    assert load_or_create(path, lambda: b"second") == b"first"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_whoever_comes_at_the_same_time_gets_the_same_key(tmp_path: Path) -> None:
    everyone = Barrier(8)

    def come(number: int) -> bytes:
        def make() -> bytes:
            everyone.wait(timeout=10)
            return bytes([number])

        return load_or_create(tmp_path / "secret", make)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(come, range(8)))) == 1


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_file_that_others_may_open_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "secret"
    path.write_bytes(b"known to all")
    path.chmod(mode)

    with pytest.raises(KeyFileExposed, match="chmod 600"):
        load_or_create(path, lambda: b"new")
