"""The contract's schemas: validation as the agents' client does it, and a form in which two schemas can be compared."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from jsonschema.validators import extend

from shared.contracts.body import MAX_SAFE_INTEGER
from shared.contracts.text import JS_WHITESPACE

CONTRACT: Final = json.loads((Path(__file__).parent / "knowledge-gateway.v1.json").read_bytes())
SCHEMAS: Final[Mapping[str, Any]] = CONTRACT["schemas"]

_CLIENT_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def _is_client_time(value: object) -> bool:
    return not isinstance(value, str) or _CLIENT_TIME.fullmatch(value) is not None


def _is_absolute_uri(value: object) -> bool:
    return not isinstance(value, str) or (bool(urlsplit(value).scheme) and not re.search(r"\s", value))


def _formats() -> Any:
    checker = FormatChecker(formats=())
    checker.checks("date-time")(_is_client_time)
    checker.checks("uri")(_is_absolute_uri)
    return checker


def _pattern(_: object, pattern: str, instance: object, __: object) -> Iterator[ValidationError]:
    """Patterns are JavaScript's: its white space, and `$` only at the very end."""
    python = pattern.replace(r"\s", JS_WHITESPACE).replace("$", r"\Z")
    if isinstance(instance, str) and not re.search(python, instance):
        yield ValidationError(f"{instance!r} does not match {pattern}")


_ClientValidator: Final = extend(Draft202012Validator, {"pattern": _pattern})


def contract_errors(name: str, instance: object) -> list[str]:
    """What the contract's schema `name` finds wrong with `instance`."""
    return [f"{error.json_path}: {error.message}" for error in _validator(name).iter_errors(instance)]


@cache
def _validator(name: str) -> Any:
    return _ClientValidator({"$ref": f"#/schemas/{name}", "schemas": SCHEMAS}, format_checker=_formats())


def comparable(schema: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    """`schema` with references followed and everything dropped that changes nothing about what it accepts.

    An integer's upper bound of 2^53 - 1 is dropped too: the client refuses larger ones though no schema says so.
    """
    if "$ref" in schema:
        return comparable(_target(schema["$ref"], root), root)
    plain = {key: value for key, value in schema.items() if key not in {"title", "description", "$defs"}}
    if plain.get("maximum") == MAX_SAFE_INTEGER:
        del plain["maximum"]
    for bound in ("minLength", "minItems"):
        if plain.get(bound) == 0:
            del plain[bound]
    for choice in ("anyOf", "oneOf"):
        if choice in plain:
            branches = [comparable(branch, root) for branch in plain.pop(choice)]
            plain["alternatives"] = sorted(branches, key=json.dumps)
    if "items" in plain:
        plain["items"] = comparable(plain["items"], root)
    if plain.get("type") == "object":
        properties = plain.get("properties", {})
        plain["properties"] = {name: comparable(properties[name], root) for name in sorted(properties)}
        plain["required"] = sorted(plain.get("required", ()))
    return dict(sorted(plain.items()))


def _target(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = root
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return dict(found)
