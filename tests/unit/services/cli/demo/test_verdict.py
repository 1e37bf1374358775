"""The demo passes only when every bar is reached."""

import json

import pytest

from services.cli.demo.demo import Verdict

PASSED = Verdict(
    documents=20,
    ready=20,
    formats=9,
    questions=53,
    right_citation=0.95,
    right_first=0.7,
    search_during_replace=40,
    gaps=0,
    mixed=0,
    seconds=61.2,
)


def test_reaching_every_bar_leaves_nothing_to_be_desired() -> None:
    assert PASSED.shortcomings() == []


@pytest.mark.parametrize(
    "change",
    [
        {"ready": 19},
        {"right_citation": 0.9434},
        {"right_first": 0.6981},
        {"search_during_replace": 0},
        {"gaps": 1},
        {"mixed": 1},
        {"documents": 11, "ready": 11},
        {"formats": 7},
        {"questions": 49},
    ],
)
def test_each_bar_counts(change: dict[str, float]) -> None:
    assert len(PASSED.model_copy(update=change).shortcomings()) == 1


def test_the_figures_are_one_json_object_with_these_names() -> None:
    assert list(json.loads(PASSED.model_dump_json(by_alias=False))) == [
        "documents",
        "ready",
        "formats",
        "questions",
        "right_citation",
        "right_first",
        "search_during_replace",
        "gaps",
        "mixed",
        "seconds",
    ]
