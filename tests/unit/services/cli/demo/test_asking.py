"""A citation was read back only if it holds what the hit showed."""

import pytest

from services.cli.demo.asking import is_same_text
from shared.contracts.enums import LocationPrecision
from shared.contracts.ids import DocumentId, VersionId
from shared.contracts.metadata import DocumentMetadataOutput
from shared.contracts.retrieval import CitationSource, RetrievalHit


def source(matched: str) -> CitationSource:
    return CitationSource(
        citation_id="cit_1",
        document_id=DocumentId("doc_1"),
        version_id=VersionId("ver_1"),
        document_name="a.md",
        before_content="",
        matched_content=matched,
        after_content="",
        requested_context_before=0,
        requested_context_after=0,
        actual_context_before=0,
        actual_context_after=0,
        matched_content_truncated=False,
        location_precision=LocationPrecision.EXACT_OFFSET,
    )


def hit(content: str) -> RetrievalHit:
    return RetrievalHit(
        citation_id="cit_1",
        document_id=DocumentId("doc_1"),
        document_name="a.md",
        chapter_path=(),
        content=content,
        score=0.5,
        metadata=DocumentMetadataOutput(category=None, tags=(), version_label=None, product_code=None),
    )


@pytest.mark.parametrize(
    ("shown", "cited", "is_same"),
    [
        ("Seven days.", "Seven days.", True),
        ("Seven\ndays.", "Seven days.", True),
        ("Seven days", "Seven days. Two people", True),
        ("Seven days. Two people", "Seven days.", True),
        ("Seven days.", "Eight days.", False),
        ("Seven days.", "", False),
        ("", "Seven days.", False),
    ],
)
def test_white_space_and_cuts_do_not_count(shown: str, cited: str, is_same: bool) -> None:
    assert is_same_text(hit(shown), source(cited)) is is_same
