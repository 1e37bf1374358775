"""The documents that are made from the code are those that the code makes."""

from pathlib import Path

import pytest

from tests.architecture.rendering import ARCHITECTURE, HTTP, PARTS, ROOT, documents


@pytest.mark.parametrize("path", sorted(documents()), ids=lambda path: path.name)
def test_a_document_is_in_step_with_the_code(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == documents()[path], "run `make openapi`"


def test_the_documents_show_every_part() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8") + HTTP.read_text(encoding="utf-8")
    assert [name for name in PARTS if f"<!-- made from the code: {name} -->" not in text] == []


def test_the_architecture_names_only_paths_that_exist() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    named = {word.strip("`") for word in text.split() if word.startswith("`") and "/" in word}
    paths = {name.rstrip("`,.:;)") for name in named if name.startswith(("services/", "shared/", "tests/", "docs/"))}
    assert [name for name in sorted(paths) if not (ROOT / name).exists()] == []
