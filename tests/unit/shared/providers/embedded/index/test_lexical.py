import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.providers.embedded.index.lexical import COVERAGE, bm25, coverage, essential_terms, weight


def test_a_rare_word_weighs_more_and_none_weighs_less_than_nothing() -> None:
    assert weight(100, 0) == pytest.approx(5.3083, abs=1e-4)
    assert weight(100, 1) == pytest.approx(4.2097, abs=1e-4)
    assert 0 < weight(100, 100) < 0.01


def test_coverage_is_the_share_of_weight_that_is_present() -> None:
    weights = {"f-217": 6.0, "pitch": 3.0, "fault": 1.0}

    assert coverage(weights, {"f-217": 2}) == pytest.approx(0.6)
    assert coverage(weights, {"pitch": 1, "fault": 1}) == pytest.approx(0.4)
    assert coverage(weights, {}) == 0.0
    assert coverage({}, {}) == 0.0


def test_the_lightest_words_cannot_carry_a_chunk_over_the_gate() -> None:
    assert essential_terms({"f-217": 6.0, "pitch": 3.0, "fault": 1.0}) == ["f-217"]
    assert essential_terms({"a": 3.0, "b": 3.0, "c": 3.0}) == ["a", "b"]
    assert essential_terms({"a": 2.0}) == ["a"]


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.01, 12), min_size=1), st.sets(st.sampled_from("abcdefgh"))
)
def test_whatever_passes_the_gate_holds_an_essential_word(weights: dict[str, float], present: set[str]) -> None:
    if coverage(weights, dict.fromkeys(present, 1)) >= COVERAGE:
        assert present & set(essential_terms(weights))


def test_bm25_rewards_counts_less_and_less_and_short_chunks_more() -> None:
    weights = {"oil": 2.0}

    assert bm25(weights, {"oil": 1}, 100, 100.0) == pytest.approx(1 / 2.2)
    assert bm25(weights, {"oil": 2}, 100, 100.0) == pytest.approx(2 / 3.2)
    assert bm25(weights, {"oil": 1}, 50, 100.0) > bm25(weights, {"oil": 1}, 100, 100.0)
    assert bm25(weights, {}, 100, 100.0) == 0.0
