"""An answer is of one version, of the other, or mixed, and the demo can tell."""

import pytest

from services.cli.demo.replacing import Edition, Observed, edition_of, second_edition
from shared.contracts.ids import DocumentId
from shared.contracts.metadata import DocumentMetadataOutput
from shared.contracts.retrieval import RetrievalEmpty, RetrievalHit, RetrievalMatches

FIRST = "# Shifts\n\nThe shift lasts seven days.\n"
SECOND = second_edition(FIRST)


def hit(content: str) -> RetrievalHit:
    return RetrievalHit(
        citation_id="cit_1",
        document_id=DocumentId("doc_1"),
        document_name="oncall.md",
        chapter_path=(),
        content=content,
        score=0.5,
        metadata=DocumentMetadataOutput(category=None, tags=(), version_label=None, product_code=None),
    )


def test_the_second_edition_is_marked_in_every_line() -> None:
    assert SECOND == "# Shifts (second edition)\n\nThe shift lasts seven days. (second edition)\n"


@pytest.mark.parametrize(
    ("contents", "edition"),
    [
        ([FIRST], Edition.FIRST),
        ([FIRST, FIRST], Edition.FIRST),
        ([SECOND, SECOND], Edition.SECOND),
        ([FIRST, SECOND], Edition.MIXED),
        ([FIRST + SECOND], Edition.MIXED),
    ],
)
def test_an_answer_is_of_the_edition_that_all_its_lines_are_of(contents: list[str], edition: Edition) -> None:
    assert edition_of(contents) is edition


def test_empty_and_mixed_answers_are_counted() -> None:
    observed = Observed()
    observed.add(RetrievalMatches(query="q", hits=(hit(FIRST),), trace_id="t"))
    observed.add(RetrievalEmpty.of("q", "t"))
    observed.add(RetrievalMatches(query="q", hits=(hit(FIRST), hit(SECOND)), trace_id="t"))
    observed.add(RetrievalMatches(query="q", hits=(hit(SECOND),), trace_id="t"))

    assert (observed.searches, observed.gaps, observed.mixed) == (4, 1, 1)
    assert {Edition.FIRST, Edition.SECOND} <= observed.editions
