"""One call and its answer, as bytes and as the JSON that they are."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

import httpx

from tests.conformance.contract import Route

Json = Any
"""What a body holds; the rules find out what it is."""

NOTHING: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What was asked for. `most_items` is what the gateway was set to give on one page."""

    route: Route
    ids: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, object] = field(default_factory=dict)
    body: Json = None
    most_items: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A body that was read as strictly as JSON can be read; `fault` says why it could not."""

    value: Json = None
    fault: str | None = None
    repeated: tuple[str, ...] = ()
    """Names that an object holds twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back."""

    call: Call
    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    content: bytes
    parsed: Parsed

    @classmethod
    def of(cls, call: Call, response: httpx.Response) -> Self:
        """The answer in a response that was read whole."""
        return cls(
            call=call,
            status=response.status_code,
            headers={name.lower(): value for name, value in response.headers.items()},
            content=response.content,
            parsed=parse(response.content),
        )

    @property
    def is_success(self) -> bool:
        """Whether it is a 2xx."""
        return 200 <= self.status < 300

    @property
    def data(self) -> Json:
        """`data`, or nothing when there is none."""
        return self.parsed.value.get("data") if isinstance(self.parsed.value, dict) else None

    @property
    def meta(self) -> Mapping[str, Any]:
        """`meta`, or an empty one."""
        meta = self.parsed.value.get("meta") if isinstance(self.parsed.value, dict) else None
        return meta if isinstance(meta, dict) else NOTHING

    @property
    def error(self) -> Mapping[str, Any]:
        """`meta.error`, or an empty one."""
        error = self.meta.get("error")
        return error if isinstance(error, dict) else NOTHING

    @property
    def code(self) -> str:
        """The error's code; empty for a success."""
        return str(self.error.get("code", ""))


def parse(content: bytes) -> Parsed:
    """Read a body: UTF-8 without a mark, no literals that JSON has not, nothing behind the value."""
    repeated: list[str] = []

    def object_of(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
        names = [name for name, _ in pairs]
        repeated.extend({name for name in names if names.count(name) > 1})
        return dict(pairs)

    try:
        value = json.loads(content.decode(), object_pairs_hook=object_of, parse_constant=_refuse)
    except ValueError as error:
        return Parsed(fault=str(error))
    return Parsed(value=value, repeated=tuple(repeated))


def walk(value: Json, path: str = "$") -> Iterator[tuple[str, Json]]:
    """Every value in it with where it stands, the outermost first."""
    yield path, value
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from walk(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from walk(inner, f"{path}[{index}]")


def depth(value: Json) -> int:
    """How deep arrays and objects are nested."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


def is_finite(value: Json) -> bool:
    """Whether it is no number that JSON cannot hold."""
    return not isinstance(value, float) or math.isfinite(value)


def _refuse(literal: str) -> Json:
    raise ValueError(f"{literal} is not JSON")
