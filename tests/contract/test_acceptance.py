"""Our models accept what the contract's schemas accept, refuse what they refuse, and write what they allow."""

import json
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from shared.contracts.body import Body
from shared.contracts.errors import RequestRefused
from shared.contracts.reading import read_body
from shared.contracts.retrieval import RetrievalResult
from tests.contract.generation import changed_values
from tests.contract.models import ANSWERS, REQUESTS
from tests.contract.schemas import contract_errors

# A generated run must not depend on how busy the machine is.
quietly = settings(deadline=None, max_examples=100, derandomize=True, phases=(Phase.generate, Phase.shrink))

BETWEEN_FIELDS = "value_error"
"""The error of our rules between fields; everything else a model refuses, the contract's schema must refuse too."""

NEEDS_A_CHANGE = {"SpaceUpdateRequest": ("name", "description"), "DocumentUpdateRequest": ("name", "metadata")}


def changes_something(name: str, value: Any) -> bool:
    fields = NEEDS_A_CHANGE.get(name)
    return fields is None or any(value.get(field) not in (None, {}) for field in fields)


def is_accepted(model: type[Body], value: object) -> bool:
    try:
        read_body(model, json.dumps(value).encode())
    except RequestRefused:
        return False
    return True


@pytest.mark.parametrize("name", REQUESTS)
@quietly
@given(data=st.data())
def test_a_request_is_accepted_exactly_when_the_contract_accepts_it(name: str, data: st.DataObject) -> None:
    value = data.draw(changed_values(name))

    expected = not contract_errors(name, value) and changes_something(name, value)

    assert is_accepted(REQUESTS[name], value) == expected


@pytest.mark.parametrize("name", ANSWERS)
@quietly
@given(data=st.data())
def test_an_answer_is_refused_exactly_when_the_contract_or_a_rule_between_fields_refuses_it(
    name: str, data: st.DataObject
) -> None:
    value = data.draw(changed_values(name))
    broken = contract_errors(name, value)
    try:
        answer = ANSWERS[name].model_validate_json(json.dumps(value), by_name=False)
    except ValidationError as error:
        reasons = {detail["type"] for detail in error.errors()}
        assert broken or reasons == {BETWEEN_FIELDS}, reasons
    else:
        assert not broken
        assert contract_errors(name, json.loads(answer.to_json())) == []


@quietly
@given(value=changed_values("RetrievalMatches") | changed_values("RetrievalEmpty"))
def test_a_search_result_is_one_of_its_two_forms(value: object) -> None:
    result = TypeAdapter[Any](RetrievalResult)
    broken = contract_errors("RetrievalResult", value)
    try:
        result.validate_json(json.dumps(value), by_name=False)
    except ValidationError:
        return
    assert not broken
