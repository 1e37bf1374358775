"""The contract's schemas, read as the client reads them, with what is wrong told leaf by leaf."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from jsonschema.validators import extend

from tests.conformance.answers import Json
from tests.conformance.contract import SCHEMAS
from tests.conformance.text import has_control, has_space, is_time, is_uri

Z: Final = "Z$"
NO_SPACE: Final = r"^[^\s]+$"
NO_CONTROL: Final = r"^[^\u0000-\u001f\u007f-\u009f]+$"
TIME: Final = "date-time"
URI: Final = "uri"

PATTERNS: Final[Mapping[str, Callable[[str], bool]]] = {
    Z: lambda text: text.endswith("Z"),
    NO_SPACE: lambda text: text != "" and not has_space(text),
    NO_CONTROL: lambda text: text != "" and not has_control(text),
}
"""Each pattern of the contract as a function: expressions mean other things in Python than in JavaScript."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that a schema finds wrong: where, by which keyword, and with which value of that keyword."""

    path: tuple[str | int, ...]
    keyword: str
    wanted: object

    def __str__(self) -> str:
        wanted = str(self.wanted)
        return f"{'.'.join(map(str, self.path)) or 'it'} is against {self.keyword} {wanted[:120]}"


def faults(name: str, instance: Json) -> list[Fault]:
    """What the contract's schema of that name finds wrong."""
    return [
        Fault(path=tuple(leaf.absolute_path), keyword=str(leaf.validator), wanted=leaf.validator_value)
        for error in _validator(name).iter_errors(instance)
        for leaf in _leaves(error)
    ]


@cache
def mentions(name: str, keyword: str, value: str) -> bool:
    """Whether a schema, or one that it refers to, holds a keyword with that value."""
    return any(inner.get(keyword) == value for inner in _parts(SCHEMAS[name]))


def _parts(schema: Json) -> Iterator[dict[str, Json]]:
    if isinstance(schema, list):
        for item in schema:
            yield from _parts(item)
    elif isinstance(schema, dict):
        yield schema
        if "$ref" in schema:
            yield from _parts(SCHEMAS[schema["$ref"].rpartition("/")[2]])
        for inner in schema.values():
            yield from _parts(inner)


def _leaves(error: ValidationError) -> Iterator[ValidationError]:
    """The errors of the branch that was meant: never the one that only wanted null, else the one with fewest."""
    if not error.context:
        yield error
        return
    branches: dict[object, list[ValidationError]] = {}
    for inner in error.context:
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)

    def unlikeness(branch: list[ValidationError]) -> tuple[bool, int]:
        return all(inner.validator == "type" and not inner.relative_path for inner in branch), len(branch)

    for inner in min(branches.values(), key=unlikeness):
        yield from _leaves(inner)


def _pattern(_: object, pattern: str, instance: object, __: object) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not PATTERNS[pattern](instance):
        yield ValidationError("does not match")


def _formats() -> Any:
    checker: Any = FormatChecker(formats=())
    checker.checks(TIME)(lambda value: not isinstance(value, str) or is_time(value))
    checker.checks(URI)(lambda value: not isinstance(value, str) or is_uri(value))
    return checker


@cache
def _validator(name: str) -> Any:
    reader = extend(Draft202012Validator, {"pattern": _pattern})
    return reader({"$ref": f"#/schemas/{name}", "schemas": SCHEMAS}, format_checker=_formats())
