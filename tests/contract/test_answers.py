"""Every kind of answer, byte for byte as it was agreed, and valid by the contract."""

import json
from pathlib import Path

import pytest

from tests.contract.models import ANSWERS
from tests.contract.samples import ANSWER_SAMPLES, OWN_SAMPLES
from tests.contract.schemas import contract_errors

GOLDEN = json.loads((Path(__file__).parent / "answers.json").read_bytes())


def test_every_kind_of_answer_has_a_sample() -> None:
    assert set(ANSWER_SAMPLES) == set(ANSWERS)
    assert set(GOLDEN) == {*ANSWER_SAMPLES, *OWN_SAMPLES}


@pytest.mark.parametrize("name", GOLDEN)
def test_an_answer_looks_as_agreed(name: str) -> None:
    samples = {**ANSWER_SAMPLES, **OWN_SAMPLES}[name]

    assert [json.loads(sample.to_json()) for sample in samples] == GOLDEN[name]


@pytest.mark.parametrize("name", ANSWERS)
def test_an_agreed_answer_is_valid_by_the_contract(name: str) -> None:
    assert [contract_errors(name, answer) for answer in GOLDEN[name]] == [[]] * len(GOLDEN[name])


@pytest.mark.parametrize("name", ANSWERS)
def test_an_agreed_answer_is_read_back_whole(name: str) -> None:
    read = [ANSWERS[name].model_validate_json(json.dumps(answer)) for answer in GOLDEN[name]]

    assert [json.loads(answer.to_json()) for answer in read] == GOLDEN[name]


@pytest.mark.parametrize("name", OWN_SAMPLES)
def test_an_envelope_is_exactly_data_and_meta(name: str) -> None:
    for answer in GOLDEN[name]:
        if "Envelope" in name:
            assert set(answer) == {"data", "meta"}
            meta = "ListSuccessMeta" if name.startswith("List") else "SuccessMeta"
            assert contract_errors(meta, answer["meta"]) == []
