"""What every HTTP body shares beyond `Wire`: strict JSON types, whole numbers and sets as JSON means them."""

from dataclasses import dataclass
from typing import Any

from pydantic import ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import (
    int_schema,
    no_info_after_validator_function,
    no_info_before_validator_function,
)

from shared.contracts.wire import Wire

MAX_SAFE_INTEGER = 2**53 - 1
"""The largest integer that a JavaScript client reads exactly."""


class Body(Wire):
    """A body of a request or an answer: ``"5"`` is no number, ``1`` is no boolean, a number is no time."""

    model_config = ConfigDict(strict=True)


def drop_default(schema: dict[str, object]) -> None:
    """For `json_schema_extra` of a field that may be null and may be absent: null is no default to publish."""
    schema.pop("default", None)


def _whole_number(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


@dataclass(frozen=True, slots=True)
class Whole:
    """``Annotated[int, Whole(1, 100)]``: an integer as JSON Schema has it, so ``1.0`` is one and ``true`` is not."""

    minimum: int
    maximum: int = MAX_SAFE_INTEGER

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        integer = int_schema(strict=True, ge=self.minimum, le=self.maximum)
        return no_info_before_validator_function(_whole_number, integer)


def _refuse_repeats(items: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(items)) < len(items):
        raise PydanticCustomError("repeated_item", "Items must not repeat")
    return items


@dataclass(frozen=True, slots=True)
class Unique:
    """``Annotated[tuple[str, ...], Unique()]``: no item twice; the order is kept."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(_refuse_repeats, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(schema) | {"uniqueItems": True}
