"""Document metadata: four fields, and how each of their forms is read, changed and answered."""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, NoReturn

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, SerializerFunctionWrapHandler, model_serializer
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import no_info_after_validator_function, str_schema

from shared.contracts.body import Body, Unique, drop_default
from shared.contracts.errors import ErrorCode, FieldError, RequestRefused
from shared.contracts.text import has_control_character, has_lone_surrogate, normalise_text
from shared.contracts.wire import Maybe

MAX_TEXT: Final = 64
MAX_TAG: Final = 32
MAX_VALUES: Final = 20
MAX_METADATA_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class Normalised:
    """Text that is its own normal form: NFC, trimmed, 1 to `max_length` code points, no control character."""

    max_length: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        text = str_schema(strict=True, min_length=1, max_length=self.max_length)
        return no_info_after_validator_function(self._check, text)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(schema) | {"pattern": r"^[^\u0000-\u001f\u007f-\u009f]+$"}

    def _check(self, text: str) -> str:
        if has_control_character(text):
            raise PydanticCustomError("text_control", "Text must not contain control characters")
        if text != normalise_text(text):
            raise PydanticCustomError("text_not_normal", "Text must be NFC and trimmed")
        return text


MetadataText = Annotated[str, Normalised(MAX_TEXT)]
MetadataTag = Annotated[str, Normalised(MAX_TAG)]
Tags = Annotated[tuple[MetadataTag, ...], Field(max_length=MAX_VALUES), Unique()]
AnyText = Annotated[tuple[MetadataText, ...], Field(min_length=1, max_length=MAX_VALUES), Unique()]
AnyTag = Annotated[tuple[MetadataTag, ...], Field(min_length=1, max_length=MAX_VALUES), Unique()]


Clearable = Annotated[MetadataText | None, Field(json_schema_extra=drop_default)]


class DocumentMetadataOutput(Body):
    """A document's metadata as they are kept and answered: always all four."""

    category: MetadataText | None
    tags: Tags
    version_label: MetadataText | None
    product_code: MetadataText | None


class DocumentMetadata(Body):
    """Metadata given with an upload."""

    category: Maybe[MetadataText] = None
    tags: Maybe[Tags] = None
    version_label: Maybe[MetadataText] = None
    product_code: Maybe[MetadataText] = None

    def to_output(self) -> DocumentMetadataOutput:
        """What a new document is given: what was left out is empty."""
        return DocumentMetadataOutput(
            category=self.category,
            tags=self.tags or (),
            version_label=self.version_label,
            product_code=self.product_code,
        )


class DocumentMetadataPatch(Body):
    """A change of metadata: an omitted field stays, null clears a text, no tags clears the tags."""

    category: Clearable = None
    tags: Maybe[Tags] = None
    version_label: Clearable = None
    product_code: Clearable = None

    @model_serializer(mode="wrap")
    def _only_what_was_given(self, serialise: SerializerFunctionWrapHandler) -> dict[str, object]:
        fields = type(self).model_fields
        names = {name for field in self.model_fields_set for name in (field, fields[field].alias)}
        return {name: value for name, value in serialise(self).items() if name in names}

    def apply_to(self, current: DocumentMetadataOutput) -> DocumentMetadataOutput:
        """The metadata after this change."""
        given = self.model_fields_set
        return DocumentMetadataOutput(
            category=self.category if "category" in given else current.category,
            tags=current.tags if self.tags is None else self.tags,
            version_label=self.version_label if "version_label" in given else current.version_label,
            product_code=self.product_code if "product_code" in given else current.product_code,
        )


class MetadataFilter(Body):
    """What a document's metadata must match: every field given, any of its values, but all of `tagsAll`."""

    category: Maybe[AnyText] = None
    tags_any: Maybe[AnyTag] = None
    tags_all: Maybe[AnyTag] = None
    version_label: Maybe[AnyText] = None
    product_code: Maybe[AnyText] = None


def normalise_metadata(raw: object, path: str = "$.metadata") -> DocumentMetadata:
    """Read the metadata of an upload. Raises `RequestRefused` with one of the metadata codes, so do the two below."""
    read = _read_object(raw, path, _UPLOAD_FIELDS, ErrorCode.METADATA_FIELD_NOT_ALLOWED)
    refuse_oversize(read, path)
    return DocumentMetadata.model_validate(read)


def normalise_metadata_patch(raw: object, path: str = "$.metadata") -> DocumentMetadataPatch:
    """Read a change of metadata; null clears a text, and is refused for tags."""
    read = _read_object(raw, path, _PATCH_FIELDS, ErrorCode.METADATA_FIELD_NOT_ALLOWED)
    refuse_oversize(read, path)
    return DocumentMetadataPatch.model_validate(read)


def normalise_metadata_filter(raw: object, path: str = "$.metadataFilter") -> MetadataFilter:
    """Read a metadata filter; an empty list is refused, and there is no limit of bytes."""
    read = _read_object(raw, path, _FILTER_FIELDS, ErrorCode.METADATA_FILTER_FIELD_NOT_ALLOWED)
    return MetadataFilter.model_validate(read)


def refuse_oversize(values: Mapping[str, object], path: str, limit: int = MAX_METADATA_BYTES) -> None:
    """Refuse metadata whose compact JSON is longer than `limit` bytes of UTF-8."""
    if len(json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()) > limit:
        _refuse(ErrorCode.METADATA_TOO_LARGE, path, "TOO_LARGE", f"Must not be longer than {limit} bytes")


Reader = Callable[[object, str], object]


def _read_object(raw: object, path: str, fields: Mapping[str, Reader], unknown: ErrorCode) -> dict[str, object]:
    if not isinstance(raw, dict):
        _refuse_value(path, "WRONG_TYPE", "Must be an object")
    for name in raw:
        if name not in fields:
            _refuse(unknown, path, "UNKNOWN_FIELD", f"Only these fields are allowed: {', '.join(fields)}")
    return {name: fields[name](value, f"{path}.{name}") for name, value in raw.items()}


def _read_text(raw: object, path: str, max_length: int = MAX_TEXT) -> str:
    if not isinstance(raw, str):
        _refuse_value(path, "WRONG_TYPE", "Must be a string")
    if has_lone_surrogate(raw):
        _refuse_value(path, "NOT_UNICODE", "Must be well-formed Unicode")
    text = normalise_text(raw)
    if not 1 <= len(text) <= max_length:
        _refuse_value(path, "WRONG_LENGTH", f"Must be 1 to {max_length} characters, not counting space around it")
    if has_control_character(text):
        _refuse_value(path, "CONTROL_CHARACTER", "Must not contain control characters")
    return text


def _read_nullable_text(raw: object, path: str) -> str | None:
    return None if raw is None else _read_text(raw, path)


def _read_texts(raw: object, path: str, max_length: int = MAX_TEXT, fewest: int = 1) -> tuple[str, ...]:
    if not isinstance(raw, list | tuple):
        _refuse_value(path, "WRONG_TYPE", "Must be an array")
    if not fewest <= len(raw) <= MAX_VALUES:
        _refuse_value(path, "WRONG_COUNT", f"Must hold {fewest} to {MAX_VALUES} items")
    texts: list[str] = []
    for index, item in enumerate(raw):
        text = _read_text(item, f"{path}[{index}]", max_length)
        _refuse_repeat(text, texts, f"{path}[{index}]")
        texts.append(text)
    return tuple(texts)


def _read_tags(raw: object, path: str) -> tuple[str, ...]:
    return _read_texts(raw, path, MAX_TAG, fewest=0)


def _read_filter_tags(raw: object, path: str) -> tuple[str, ...]:
    return _read_texts(raw, path, MAX_TAG)


def _refuse_repeat(text: str, before: Collection[str], path: str) -> None:
    if text in before:
        _refuse_value(path, "REPEATED", "Must not repeat another item, compared after normalisation")


def _refuse_value(path: str, reason: str, message: str) -> NoReturn:
    _refuse(ErrorCode.METADATA_VALUE_INVALID, path, reason, message)


def _refuse(code: ErrorCode, path: str, reason: str, message: str) -> NoReturn:
    raise RequestRefused(code, (FieldError(field=path, reason=reason, message=message),))


_UPLOAD_FIELDS: Final[Mapping[str, Reader]] = {
    "category": _read_text,
    "tags": _read_tags,
    "versionLabel": _read_text,
    "productCode": _read_text,
}
_PATCH_FIELDS: Final[Mapping[str, Reader]] = {
    "category": _read_nullable_text,
    "tags": _read_tags,
    "versionLabel": _read_nullable_text,
    "productCode": _read_nullable_text,
}
_FILTER_FIELDS: Final[Mapping[str, Reader]] = {
    "category": _read_texts,
    "tagsAny": _read_filter_tags,
    "tagsAll": _read_filter_tags,
    "versionLabel": _read_texts,
    "productCode": _read_texts,
}
