"""Bodies are read with JSON's own types."""

from typing import Annotated

import pytest
from pydantic import ValidationError

from shared.contracts.body import Body, Unique, Whole


class Sample(Body):
    """A body with one field of each kind."""

    whole: Annotated[int, Whole(0, 10)] = 0
    large: Annotated[int, Whole(0)] = 0
    flag: bool = False
    share: float = 0.0
    names: Annotated[tuple[str, ...], Unique()] = ()


@pytest.mark.parametrize(("written", "read"), [("0", 0), ("10", 10), ("1.0", 1), ("1e1", 10), ("-0", 0)])
def test_a_whole_number_may_be_written_with_a_fraction_of_zero(written: str, read: int) -> None:
    sample = Sample.model_validate_json(f'{{"whole": {written}}}')

    assert (sample.whole, type(sample.whole)) == (read, int)


@pytest.mark.parametrize("written", ['"5"', "true", "null", "1.5", "-1", "11", "1e400", "NaN", "Infinity", "[]", "{}"])
def test_nothing_else_is_a_whole_number(written: str) -> None:
    with pytest.raises(ValidationError):
        Sample.model_validate_json(f'{{"whole": {written}}}')


def test_a_number_that_javascript_cannot_hold_is_refused() -> None:
    assert Sample.model_validate_json('{"large": 9007199254740991}').large == 9007199254740991
    with pytest.raises(ValidationError):
        Sample.model_validate_json('{"large": 9007199254740992}')


@pytest.mark.parametrize("written", ["1", "0", '"true"', "null"])
def test_only_true_and_false_are_booleans(written: str) -> None:
    with pytest.raises(ValidationError):
        Sample.model_validate_json(f'{{"flag": {written}}}')


@pytest.mark.parametrize("written", ['"0.5"', "true", "NaN", "1e400"])
def test_only_finite_numbers_are_numbers(written: str) -> None:
    with pytest.raises(ValidationError):
        Sample.model_validate_json(f'{{"share": {written}}}')


def test_an_integer_is_a_number() -> None:
    assert Sample.model_validate_json('{"share": 1}').share == 1.0


def test_items_keep_their_order_and_must_not_repeat() -> None:
    assert Sample.model_validate_json('{"names": ["b", "a"]}').names == ("b", "a")
    with pytest.raises(ValidationError, match="must not repeat"):
        Sample.model_validate_json('{"names": ["a", "a"]}')


def test_of_a_key_that_is_written_twice_the_last_wins() -> None:
    assert Sample.model_validate_json('{"whole": 1, "whole": 2}').whole == 2


@pytest.mark.parametrize("name", ["__proto__", "Whole", "constructor"])
def test_an_unknown_key_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        Sample.model_validate_json(f'{{"{name}": 1}}')
