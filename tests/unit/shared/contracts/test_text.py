"""Text is measured and trimmed as JavaScript does it, which is not as Python does it."""

from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from shared.contracts.text import (
    BusinessId,
    Code,
    DocumentName,
    Reason,
    SecurityDomainCode,
    SpaceDescription,
    SpaceName,
    Text,
    has_control_character,
    has_lone_surrogate,
    has_whitespace,
    js_trim,
    normalise_text,
)

JS_SPACES = (
    "\u0009\u000a\u000b\u000c\u000d\u0020\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
NO_JS_SPACES = "\u0085\u001c\u001d\u001e\u001f\u200b\u180e"


def accepts(kind: Any, value: object) -> bool:
    try:
        TypeAdapter[Any](kind).validate_python(value)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("space", JS_SPACES, ids=ascii)
def test_what_javascript_calls_white_space_is_trimmed_and_refused_in_ids(space: str) -> None:
    assert js_trim(f"{space}a{space}") == "a"
    assert has_whitespace(f"a{space}b")
    assert not accepts(BusinessId, f"a{space}b")
    assert not accepts(BusinessId, f"a{space}")


@pytest.mark.parametrize("character", NO_JS_SPACES, ids=ascii)
def test_what_only_python_calls_white_space_stays(character: str) -> None:
    assert js_trim(f"{character}a{character}") == f"{character}a{character}"
    assert not has_whitespace(character)
    assert accepts(BusinessId, f"a{character}b")


def test_normalising_composes_then_trims_and_keeps_the_case() -> None:
    assert normalise_text("\u3000Cafe\u0301 Paris\ufeff") == "Caf\u00e9 Paris"


def test_control_characters_are_those_of_the_category_cc() -> None:
    controls = [*range(0x20), 0x7F, *range(0x80, 0xA0)]

    assert all(has_control_character(chr(code)) for code in controls)
    assert not any(has_control_character(chr(code)) for code in (0x20, 0x7E, 0xA0, 0xAD, 0x200B, 0xFEFF))


def test_a_lone_surrogate_is_seen() -> None:
    assert has_lone_surrogate("a\ud800")
    assert not has_lone_surrogate("😀")


@pytest.mark.parametrize(
    ("kind", "fewest", "most"),
    [
        (BusinessId, 1, 256),
        (Code, 1, 64),
        (SecurityDomainCode, 1, 100),
        (Reason, 1, 1024),
        (SpaceName, 1, 128),
        (SpaceDescription, 0, 1000),
        (DocumentName, 1, 255),
    ],
)
def test_lengths_count_code_points(kind: Any, fewest: int, most: int) -> None:
    assert accepts(kind, "😀" * fewest)
    assert accepts(kind, "😀" * most)
    assert not accepts(kind, "😀" * (most + 1))
    assert accepts(kind, "") == (fewest == 0)


@pytest.mark.parametrize("value", ["a\0", "\0", "\ud800", 5, None, b"a", True])
def test_what_no_database_could_keep_is_refused(value: object) -> None:
    assert not accepts(Annotated[str, Text(1, 10)], value)


@pytest.mark.parametrize("value", [" a ", "\n", "a\nb", "\u0001"])
def test_names_and_reasons_may_hold_any_other_character(value: str) -> None:
    assert accepts(Reason, value)
