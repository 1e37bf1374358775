"""What every unit test leaves behind: nothing."""

from collections.abc import Iterator

import pytest

from tests.support.scripted import close_kept


@pytest.fixture(autouse=True)
def _close_scripted_providers() -> Iterator[None]:
    yield
    close_kept()
