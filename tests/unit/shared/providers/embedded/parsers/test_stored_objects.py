"""Stored objects have names without a suffix: only the content type says what they are."""

import shutil
from pathlib import Path

import pytest

from shared.providers.embedded.parsers.formats import read_blocks
from tests.integration.engine.corpus import CONTENT_TYPES, corpus_files


def ignore(done: int, total: int) -> None:
    """Nobody watches."""


@pytest.mark.parametrize("file", corpus_files(), ids=lambda file: file.name)
def test_a_file_without_a_suffix_is_read_like_the_one_with_its_name(file: Path, tmp_path: Path) -> None:
    content_type = CONTENT_TYPES[file.suffix]
    stored = Path(shutil.copy(file, tmp_path / "01k2"))

    assert list(read_blocks(stored, content_type, ignore)) == list(read_blocks(file, content_type, ignore))
