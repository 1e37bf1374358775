"""Bodies that a schema refuses, made from one that it allows: everything wrong, one thing at a time."""

from collections.abc import Iterator, Mapping
from typing import Final

from tests.conformance.answers import Json
from tests.conformance.contract import SCHEMAS
from tests.conformance.schemas import faults

SURPLUS: Final = "surplus"
SAMPLE: Final = "x"
WRONG_TYPES: Final[Mapping[str, Json]] = {"string": 7, "integer": "7", "array": {}, "object": "x", "boolean": "x"}


def mutants(name: str, body: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """What was changed and the body after it, for every change that the schema of that name refuses."""
    for what, mutant in _changed("$", SCHEMAS[name], body):
        if faults(name, mutant):
            yield what, mutant


def _changed(path: str, schema: Json, value: Json) -> Iterator[tuple[str, Json]]:
    schema = _resolved(schema)
    if "oneOf" in schema:
        schema = _resolved(schema["oneOf"][0])
    yield f"{path} is null", None
    yield f"{path} has another type", WRONG_TYPES[schema["type"]]
    if schema["type"] == "object":
        yield from _changed_object(path, schema, value)
    elif schema["type"] == "array":
        yield from _changed_array(path, schema, value)
    elif schema["type"] == "string":
        yield from _changed_text(path, schema)
    elif schema["type"] == "integer":
        yield f"{path} is a boolean", True
        yield f"{path} is too small", schema.get("minimum", 0) - 1
        yield f"{path} is too large", schema.get("maximum", 2**70) + 1


def _changed_object(path: str, schema: Json, value: Json) -> Iterator[tuple[str, Json]]:
    yield f"{path} is a list", []
    yield f"{path}.{SURPLUS} is there", {**value, SURPLUS: 1}
    for name, inner in schema.get("properties", {}).items():
        if name in value:
            yield f"{path}.{name} is missing", {key: kept for key, kept in value.items() if key != name}
        for what, changed in _changed(f"{path}.{name}", inner, value.get(name, _sample(inner))):
            yield what, {**value, name: changed}


def _changed_array(path: str, schema: Json, value: Json) -> Iterator[tuple[str, Json]]:
    most = schema["maxItems"]
    yield f"{path} is empty", []
    yield f"{path} is too long", [f"{SAMPLE}{number}" for number in range(most + 1)]
    yield f"{path} repeats an item", [SAMPLE, SAMPLE]
    for what, changed in _changed(f"{path}[0]", schema["items"], SAMPLE):
        yield what, [changed, *value[1:]]


def _changed_text(path: str, schema: Json) -> Iterator[tuple[str, Json]]:
    yield f"{path} is empty", ""
    if "maxLength" in schema:
        yield f"{path} is too long", SAMPLE * (schema["maxLength"] + 1)
        yield f"{path} is too long in code points", "𝄞" * (schema["maxLength"] + 1)
    yield f"{path} is something else", "something-else"
    for space in ("a b", "a\u00a0b", "\ufeffa", "a\u2028"):
        yield f"{path} holds white space", space
    yield f"{path} holds a control character", "a\u0007b"


def _resolved(schema: Json) -> Json:
    return SCHEMAS[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _sample(schema: Json) -> Json:
    schema = _resolved(schema)
    return {"object": {}, "array": [SAMPLE]}.get(schema.get("type", ""), SAMPLE)
