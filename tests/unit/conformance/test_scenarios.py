"""The list of rules: each has a name of its own, and what the product may send is all there."""

from collections import Counter

from shared.contracts.errors import ERROR_RULES
from tests.conformance.rules.errors import STATUSES, UNPROVOKED
from tests.conformance.rules.stages import ANSWER_RULES
from tests.conformance.run import ON_EMBEDDED, ON_SCRIPTED


def test_no_two_rules_share_a_name() -> None:
    names = Counter([scenario.rule for scenario in (*ON_EMBEDDED, *ON_SCRIPTED)] + list(ANSWER_RULES))

    assert [name for name, times in names.items() if times > 1] == []


def test_every_code_that_the_product_knows_is_provoked_or_said_why_not() -> None:
    assert {code.value for code in ERROR_RULES} == {*STATUSES, *UNPROVOKED}


def test_a_codes_status_is_the_one_that_the_product_means() -> None:
    assert {code.value: rule.status for code, rule in ERROR_RULES.items() if code in STATUSES} == STATUSES
