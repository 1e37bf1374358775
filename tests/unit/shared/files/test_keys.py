"""Keys of objects: those that we make are told from all others."""

import pytest

from shared.files.keys import check_key, is_own_key, new_object_key


def test_a_key_that_we_make_is_known_as_ours() -> None:
    key = new_object_key()
    assert is_own_key(key)
    assert check_key(key) == key


@pytest.mark.parametrize(
    "key",
    [
        "objects/ab/cd" + "0" * 38,
        "objects/ab/ab" + "0" * 37,
        "backup/ab/ab" + "0" * 38,
        "objects/ab/ab" + "0" * 38 + "/more",
        "objects/readiness",
    ],
)
def test_every_other_key_is_not(key: str) -> None:
    assert not is_own_key(key)
