"""Turns bytes and query strings from outside into models, or into what is wrong with them."""

import json
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from shared.contracts.body import Body
from shared.contracts.errors import MAX_FIELD_ERRORS, ErrorCode, FieldError, RequestRefused, invalid

Model = TypeVar("Model", bound=Body)

MAX_FIELD_LENGTH: Final = 256
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WHOLE_NUMBER: Final = re.compile(r"0|-?[1-9][0-9]{0,15}")

FAULTS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "missing": ("MISSING", "Must be given"),
        "extra_forbidden": ("UNKNOWN_FIELD", "There is no such field"),
        "json_invalid": ("NOT_JSON", "The body is not valid JSON"),
        "model_type": ("WRONG_TYPE", "Must be an object"),
        "string_type": ("WRONG_TYPE", "Must be a string"),
        "int_type": ("WRONG_TYPE", "Must be a whole number"),
        "bool_type": ("WRONG_TYPE", "Must be true or false"),
        "float_type": ("WRONG_TYPE", "Must be a number"),
        "tuple_type": ("WRONG_TYPE", "Must be an array"),
        "string_too_short": ("WRONG_LENGTH", "Must have {min_length} or more characters"),
        "string_too_long": ("WRONG_LENGTH", "Must have at most {max_length} characters"),
        "text_whitespace": ("WHITE_SPACE", "Must not contain white space"),
        "text_nul": ("CONTROL_CHARACTER", "Must not contain the character U+0000"),
        "too_short": ("WRONG_COUNT", "Must hold {min_length} or more items"),
        "too_long": ("WRONG_COUNT", "Must hold at most {max_length} items"),
        "repeated_item": ("REPEATED", "Must not repeat an item"),
        "greater_than_equal": ("OUT_OF_RANGE", "Must be at least {ge}"),
        "less_than_equal": ("OUT_OF_RANGE", "Must be at most {le}"),
        "finite_number": ("OUT_OF_RANGE", "Must be a finite number"),
        "enum": ("NOT_ALLOWED", "Must be {expected}"),
        "literal_error": ("NOT_ALLOWED", "Must be {expected}"),
    }
)
"""What a refused field is told, by pydantic's type of error: the reason, and a sentence with pydantic's numbers in it.

Anything else is INVALID.
"""


def read_body(model: type[Model], raw: bytes) -> Model:
    """Read a request's body; raises `RequestRefused` with every error found.

    Field names are the contract's alone. A metadata error comes alone, with its own code, before all others.
    """
    try:
        return model.model_validate_json(raw, by_alias=True, by_name=False)
    except ValidationError as error:
        raise RequestRefused(ErrorCode.INVALID_INPUT, field_errors_of(error)) from None


def read_query(model: type[Model], pairs: Iterable[tuple[str, str]]) -> Model:
    """Read a query string's pairs; raises `RequestRefused`. Numbers are plain decimal, no name may repeat."""
    given: dict[str, object] = {}
    for name, value in pairs:
        if name in given:
            raise invalid(json_path((name,)), "REPEATED", "Must be given once")
        given[name] = int(value) if _WHOLE_NUMBER.fullmatch(value) else value
    try:
        return model.model_validate(given, by_alias=True, by_name=False)
    except ValidationError as error:
        raise RequestRefused(ErrorCode.INVALID_INPUT, field_errors_of(error)) from None


def field_errors_of(error: ValidationError) -> tuple[FieldError, ...]:
    """What is wrong and where, without repeating any value; at most as many as an answer may hold."""
    details = error.errors(include_url=False, include_context=True, include_input=False)
    return tuple(_field_error(detail) for detail in details[:MAX_FIELD_ERRORS])


def json_path(location: Iterable[str | int]) -> str:
    """``("tags", 2)`` as ``$.tags[2]``; a name that is no plain word is quoted, a long path is cut."""
    path = "$"
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif _PLAIN_NAME.fullmatch(part):
            path += f".{part}"
        else:
            path += f"[{json.dumps(part)}]"
    return path if len(path) <= MAX_FIELD_LENGTH else f"{path[: MAX_FIELD_LENGTH - 1]}…"


def _field_error(detail: ErrorDetails) -> FieldError:
    known = FAULTS.get(detail["type"])
    if known is None:
        reason, message = "INVALID", detail["msg"].removeprefix("Value error, ")
    else:
        reason, message = known[0], known[1].format_map(detail.get("ctx", {}))
    return FieldError(field=json_path(detail["loc"]), reason=reason, message=message)
