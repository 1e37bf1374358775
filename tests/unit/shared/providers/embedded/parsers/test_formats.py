from pathlib import Path

import pytest

from shared.contracts.content_types import ContentType
from shared.contracts.enums import FailureReason
from shared.providers.embedded.blocks import paragraph
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.parsers.formats import PARSERS, parser_for, read_blocks


def test_every_content_type_that_the_gateway_takes_has_a_parser() -> None:
    assert set(PARSERS) == set(ContentType)
    assert all(callable(parser_for(content_type)) for content_type in ContentType)


def test_parameters_and_case_of_a_content_type_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "note"
    path.write_text("A sentence.")

    assert list(read_blocks(path, "Text/Plain; charset=utf-8", lambda done, total: None)) == [paragraph("A sentence.")]


def test_an_unknown_content_type_is_unsupported() -> None:
    with pytest.raises(DigestFailed) as failure:
        parser_for("application/x-msdownload")

    assert failure.value.reason is FailureReason.FILE_UNSUPPORTED


def test_an_empty_file_is_refused_before_any_library_sees_it(tmp_path: Path) -> None:
    path = tmp_path / "empty.pdf"
    path.touch()

    with pytest.raises(DigestFailed) as failure:
        read_blocks(path, ContentType.PDF, lambda done, total: None)

    assert failure.value.reason is FailureReason.FILE_EMPTY
