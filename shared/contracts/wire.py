"""How every model on the wire is shaped: closed, frozen, absent instead of null, times that end in Z."""

from dataclasses import dataclass
from datetime import UTC, datetime
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, GetCoreSchemaHandler, PlainSerializer, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema
from pydantic_core.core_schema import json_or_python_schema, nullable_schema

T = TypeVar("T")


def format_time(moment: datetime) -> str:
    """Write an aware time as RFC 3339 in UTC with milliseconds and a trailing ``Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _serialise(moment: datetime | None) -> str | None:
    """None reaches this only as the unset default of a `Maybe` field."""
    return None if moment is None else format_time(moment)


UtcTime = Annotated[
    AwareDatetime,
    PlainSerializer(_serialise, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time", "pattern": "Z$"}),
]
"""An aware time; on the wire it always ends in ``Z``, because the agents' client refuses offsets."""


def format_exact_time(moment: datetime) -> str:
    """Write an aware time as RFC 3339 in UTC with microseconds and a trailing ``Z``."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


ExactTime = Annotated[
    AwareDatetime,
    PlainSerializer(format_exact_time, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time", "pattern": "Z$"}),
]
"""An aware time that loses nothing on the wire: whoever computes the hash of an audit entry needs all of it."""


def _is_none(value: object) -> bool:
    return value is None


def _drop_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


@dataclass(frozen=True, slots=True)
class _NeverNull:
    """Makes a field that Python sees as ``T | None`` refuse an explicit null in JSON."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        (present,) = (kind for kind in get_args(source) if kind is not NoneType)
        schema = handler(present)
        return json_or_python_schema(json_schema=schema, python_schema=nullable_schema(schema))


Maybe = Annotated[T | None, _NeverNull(), Field(exclude_if=_is_none, json_schema_extra=_drop_default)]
"""``name: Maybe[str] = None``: the field may be absent, and is absent when it is None, but is never null.

The agents' client refuses a null where the contract says "may be absent"; a field that may really
be null is declared ``X | None`` without a default and is then always present. Python code may pass None;
bodies from outside are read with ``model_validate_json``, which refuses an explicit null.
"""


class Wire(BaseModel):
    """A closed, immutable model: camelCase on the wire, snake_case in Python, no NaN, no infinities."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        allow_inf_nan=False,
    )

    def to_json(self) -> bytes:
        """Serialise to compact UTF-8 JSON."""
        return self.model_dump_json().encode()
