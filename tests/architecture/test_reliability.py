"""The tests that the page on reliability names exist, and it names one for everything that it tells of."""

import re
from pathlib import Path

import pytest

from tests.architecture.rendering import ROOT

PAGE = ROOT / "docs" / "reliability.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
ROW = re.compile(r"^\| (\d+) \|.*$", re.MULTILINE)
TARGET = re.compile(r"^\| `make ([a-z]+)` \|", re.MULTILINE)
SETTING = re.compile(r"`(KNOWGATE_[A-Z_]+)(?:=\w+)?`")


def named_tests() -> list[tuple[str, str]]:
    """File and name of every test that the page names."""
    return sorted(set(NAMED.findall(PAGE.read_text(encoding="utf-8"))))


@pytest.mark.parametrize(("file", "name"), named_tests(), ids=lambda word: word)
def test_a_test_that_is_named_exists(file: str, name: str) -> None:
    path = Path(ROOT / file)
    assert path.is_file()
    assert re.search(rf"^(?:async )?def {name}\(", path.read_text(encoding="utf-8"), re.MULTILINE)


def test_for_everything_that_went_wrong_elsewhere_a_test_is_named_and_nothing_is_told_twice() -> None:
    rows = list(ROW.finditer(PAGE.read_text(encoding="utf-8")))
    assert [row.group(1) for row in rows if not NAMED.search(row.group())] == []
    numbers = [int(row.group(1)) for row in rows]
    assert numbers == sorted(set(numbers))
    assert len(numbers) > 60


def test_the_targets_that_are_to_show_it_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = TARGET.findall(PAGE.read_text(encoding="utf-8"))
    assert [name for name in targets if not re.search(rf"^{name}:", makefile, re.MULTILINE)] == []
    assert {"chaos", "reconnect", "poison", "soak"} <= set(targets)


def test_the_settings_that_are_named_exist() -> None:
    known = (ROOT / "deploy" / ".env.example").read_text(encoding="utf-8")
    named = set(SETTING.findall(PAGE.read_text(encoding="utf-8")))
    assert [name for name in sorted(named) if f"# {name}=" not in known] == []
    assert len(named) > 5
