"""Generates JSON values that a schema of the contract allows, and the same values with one thing changed."""

import copy
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from hypothesis import strategies as st

from tests.contract.schemas import CONTRACT, comparable

MANY_ITEMS: Final = 2

Path = tuple[str | int, ...]

# No U+0000 (refused though the contract allows it), nothing that normalisation would change.
_PLAIN: Final = "aZ9-_.:/财务é😀\u200b"
_SPACED: Final = _PLAIN + " \t\u00a0\u0085\u001c\u2028\u3000\ufeff"
_TIMES: Final = ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678Z", "1999-12-31T23:59:59.123456Z")
_URLS: Final = ("https://knowledge.example/downloads/x", "http://127.0.0.1:8080/d", "http://localhost/d?a=b")
_WRONG: Final[tuple[Any, ...]] = (
    None,
    True,
    0,
    1,
    1.0,
    1.5,
    -1,
    101,
    5001,
    "",
    "5",
    "x y",
    "PENDING",
    "\u0007",
    [],
    ["a", "a"],
    {},
)


@cache
def json_values(name: str) -> st.SearchStrategy[Any]:
    """Values that the contract's schema `name` allows."""
    return _values(comparable({"$ref": f"#/schemas/{name}"}, CONTRACT))


@cache
def changed_values(name: str) -> st.SearchStrategy[Any]:
    """A value of `json_values`, usually with one part dropped, added, or replaced by something else."""
    return _changed(json_values(name))


@st.composite
def _changed(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> Any:
    value = copy.deepcopy(draw(values))
    change = draw(st.sampled_from(("none", "drop", "add", "replace", "lengthen")))
    path = draw(st.sampled_from(list(_paths(value))))
    if change == "none" or not path:
        return value
    parent = _at(value, path[:-1])
    if change == "drop":
        del parent[path[-1]]
    elif change == "add":
        _add(parent, draw(st.sampled_from(("extra", "expected_version", "__proto__"))))
    elif change == "replace":
        parent[path[-1]] = copy.deepcopy(draw(st.sampled_from(_WRONG)))
    else:
        parent[path[-1]] = _longer(parent[path[-1]], draw(st.sampled_from((1, 31, 63, 127, 254, 1023, 5000))))
    return value


def _values(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "alternatives" in schema:
        return st.one_of([_values(branch) for branch in schema["alternatives"]])
    return _BY_TYPE[schema["type"]](schema)


def _objects(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    parts = {name: _values(part) for name, part in schema["properties"].items()}
    required = {name: parts[name] for name in schema["required"]}
    optional = {name: part for name, part in parts.items() if name not in required}
    return st.fixed_dictionaries(required, optional=optional)


def _arrays(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    fewest = schema.get("minItems", 0)
    most = min(schema["maxItems"], MANY_ITEMS)
    return st.lists(_values(schema["items"]), min_size=fewest, max_size=most, unique="uniqueItems" in schema)


def _strings(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    if schema.get("format") == "date-time":
        return st.sampled_from(_TIMES)
    if schema.get("format") == "uri":
        return st.sampled_from(_URLS)
    alphabet = _PLAIN if "pattern" in schema else _SPACED
    lengths = sorted({schema.get("minLength", 0), 1, schema["maxLength"]})
    rotated = [alphabet[start:] + alphabet[:start] for start in range(len(alphabet))]
    return st.sampled_from([_repeated(text, length) for length in lengths for text in (alphabet[0], *rotated)])


def _repeated(text: str, length: int) -> str:
    return (text * length)[:length]


def _integers(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    return st.integers(schema["minimum"], schema.get("maximum", 5000))


_BY_TYPE: Final[Mapping[str, Callable[[Mapping[str, Any]], st.SearchStrategy[Any]]]] = {
    "object": _objects,
    "array": _arrays,
    "string": _strings,
    "integer": _integers,
    "number": lambda schema: st.floats(schema["minimum"], schema["maximum"]),
    "boolean": lambda _: st.booleans(),
    "null": lambda _: st.none(),
}


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    children: Any = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for key, child in children:
        yield from _paths(child, (*path, key))


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def _add(parent: Any, name: str) -> None:
    if isinstance(parent, dict):
        parent[name] = "x"
    else:
        parent.append(parent[0])


def _longer(value: Any, by: int) -> Any:
    return value + "x" * by if isinstance(value, str) else [value]
