"""Text and times as JavaScript sees them, which is not how Python does."""

import pytest

from tests.conformance.text import has_control, has_space, is_time, is_uri, normalised


@pytest.mark.parametrize("character", ["\t", " ", "\u00a0", "\u2028", "\u3000", "\ufeff"])
def test_what_javascript_calls_white_space_is(character: str) -> None:
    assert has_space(f"a{character}b")
    assert normalised(f"{character}a{character}") == "a"


@pytest.mark.parametrize("character", ["\u0085", "\u001c", "\u001f", "\u200b", "\u180e"])
def test_what_javascript_does_not_call_white_space_is_not(character: str) -> None:
    assert not has_space(f"a{character}b")
    assert normalised(f"{character}a") == f"{character}a"


def test_normal_form_is_composed() -> None:
    assert normalised("Cafe\u0301") == "Café"


def test_control_characters_are_of_their_category() -> None:
    assert [has_control(text) for text in ("a\u0085", "a\u007f", "a\u001f", "a\u200b", "a\ufeff")] == [
        True,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "2031-05-06T07:08:09Z",
        "2031-05-06T07:08:09.123456789Z",
        "2031-05-06T07:08:09+05:30",
        "2031-05-06T24:00:00Z",
        "2031-02-30T07:08:09Z",
    ],
)
def test_a_time_that_the_client_takes(text: str) -> None:
    assert is_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "2031-05-06T07:08:60Z",
        "2031-13-06T07:08:09Z",
        "2031-05-32T07:08:09Z",
        "2031-05-06T07:08:09+24:00",
        "2031-05-06t07:08:09Z",
        "2031-05-06T07:08:09z",
        "2031-05-06T07:08Z",
        "2031-05-06T07:08:09",
        "2031-05-06T07:08:09Z\n",
        "2031-05-06T24:00:01Z",
        "2031-05-06T07:08:09.Z",
    ],
)
def test_a_time_that_the_client_refuses(text: str) -> None:
    assert not is_time(text)


def test_an_address_is_absolute() -> None:
    assert is_uri("https://gateway.example/downloads/x")
    assert not is_uri("/downloads/x")
    assert not is_uri("https://gateway.example/a b")
