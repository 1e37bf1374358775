"""A rule passes when it was looked at and never broken; a run is clean when every rule passes on every route."""

from tests.conformance.ledger import Ledger
from tests.conformance.rules.finding import Finding
from tests.conformance.run import Result


def test_a_rule_that_always_held_passes() -> None:
    lines: list[str] = []
    ledger = Ledger(["one"], lines.append)
    ledger.note(Finding("one", None))
    ledger.note(Finding("one", None))
    ledger.close()

    assert (ledger.passed(), ledger.rules, lines) == (1, 1, ["ok      one (2)"])


def test_a_rule_that_was_broken_once_fails_whatever_else_was_seen() -> None:
    lines: list[str] = []
    ledger = Ledger(["one", "two"], lines.append)
    ledger.note(Finding("one", "it was three"), "space_get 200")
    ledger.note(Finding("one", None))
    ledger.note(Finding("two", None))
    ledger.close()

    assert ledger.passed() == 1
    assert lines == ["FAILED  one: 1 of 2: space_get 200: it was three", "ok      two (1)"]
    assert ledger.broken == lines[:1]


def test_a_rule_that_nothing_was_said_of_fails() -> None:
    lines: list[str] = []
    ledger = Ledger(["one"], lines.append)
    ledger.close()

    assert (ledger.passed(), ledger.broken) == (0, [])
    assert lines == ["FAILED  one: nothing that it speaks of was seen"]


def test_a_rule_is_told_once() -> None:
    lines: list[str] = []
    ledger = Ledger(["one"], lines.append)
    ledger.note(Finding("one", None))
    ledger.tell("one", " in 1 s")
    ledger.close()

    assert lines == ["ok      one (1) in 1 s"]


def test_a_run_is_clean_with_all_rules_and_all_twenty_routes() -> None:
    assert Result(routes=20, rules=7, passed=7).is_clean
    assert not Result(routes=19, rules=7, passed=7).is_clean
    assert not Result(routes=20, rules=7, passed=6).is_clean
    assert Result(routes=20, rules=7, passed=6).line() == '{"routes": 20, "rules": 7, "passed": 6, "failed": 1}'
