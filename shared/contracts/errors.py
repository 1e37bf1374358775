"""Every error code the gateway sends, its HTTP status, and how the agents' client reads it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from types import MappingProxyType
from typing import Annotated, Final, Self

from pydantic import Field

from shared.contracts.body import Body

MAX_FIELD_ERRORS: Final = 100


@unique
class ClientCode(StrEnum):
    """The closed set of codes that an agent sees; the client maps every other code to one of them."""

    UNAUTHENTICATED = "KNOWLEDGE_UNAUTHENTICATED"
    FORBIDDEN = "KNOWLEDGE_FORBIDDEN"
    NOT_FOUND = "KNOWLEDGE_NOT_FOUND"
    CONFLICT = "KNOWLEDGE_CONFLICT"
    OPERATION_PENDING = "KNOWLEDGE_OPERATION_PENDING"
    PROVIDER_UNAVAILABLE = "KNOWLEDGE_PROVIDER_UNAVAILABLE"
    INVALID_INPUT = "KNOWLEDGE_INVALID_INPUT"
    GATEWAY_PROTOCOL_ERROR = "KNOWLEDGE_GATEWAY_PROTOCOL_ERROR"
    METADATA_FIELD_NOT_ALLOWED = "KNOWLEDGE_METADATA_FIELD_NOT_ALLOWED"
    METADATA_FILTER_FIELD_NOT_ALLOWED = "KNOWLEDGE_METADATA_FILTER_FIELD_NOT_ALLOWED"
    METADATA_VALUE_INVALID = "KNOWLEDGE_METADATA_VALUE_INVALID"
    METADATA_TOO_LARGE = "KNOWLEDGE_METADATA_TOO_LARGE"


@unique
class ErrorCode(StrEnum):
    """What `meta.error.code` may hold. A gateway never sends the client's own GATEWAY_PROTOCOL_ERROR."""

    UNAUTHENTICATED = "KNOWLEDGE_UNAUTHENTICATED"
    FORBIDDEN = "KNOWLEDGE_FORBIDDEN"
    NOT_FOUND = "KNOWLEDGE_NOT_FOUND"
    CONFLICT = "KNOWLEDGE_CONFLICT"
    OPERATION_PENDING = "KNOWLEDGE_OPERATION_PENDING"
    KNOWLEDGE_PROVIDER_UNAVAILABLE = "KNOWLEDGE_PROVIDER_UNAVAILABLE"
    INVALID_INPUT = "KNOWLEDGE_INVALID_INPUT"
    METADATA_FIELD_NOT_ALLOWED = "KNOWLEDGE_METADATA_FIELD_NOT_ALLOWED"
    METADATA_FILTER_FIELD_NOT_ALLOWED = "KNOWLEDGE_METADATA_FILTER_FIELD_NOT_ALLOWED"
    METADATA_VALUE_INVALID = "KNOWLEDGE_METADATA_VALUE_INVALID"
    METADATA_TOO_LARGE = "KNOWLEDGE_METADATA_TOO_LARGE"

    SPACE_DISABLED = "SPACE_DISABLED"
    SPACE_NOT_FOUND = "SPACE_NOT_FOUND"
    DOCUMENT_NOT_FOUND = "DOCUMENT_NOT_FOUND"
    FILE_NOT_FOUND = "FILE_NOT_FOUND"
    OPERATION_NOT_FOUND = "OPERATION_NOT_FOUND"
    SPACE_VERSION_CONFLICT = "KNOWLEDGE_VERSION_CONFLICT"
    DOCUMENT_VERSION_CONFLICT = "DOCUMENT_VERSION_CONFLICT"
    DOCUMENT_NOT_READY = "DOCUMENT_NOT_READY"
    OPERATION_NOT_CANCELLABLE = "OPERATION_NOT_CANCELLABLE"
    OPERATION_NOT_RETRYABLE = "OPERATION_NOT_RETRYABLE"
    OPERATION_MANUAL_RETRY_LIMIT_EXCEEDED = "OPERATION_MANUAL_RETRY_LIMIT_EXCEEDED"
    SPACE_NOT_EMPTY = "SPACE_NOT_EMPTY"
    SPACE_HAS_PENDING_OPERATIONS = "SPACE_HAS_PENDING_OPERATIONS"
    INVALID_CONTEXT_RANGE = "INVALID_CONTEXT_RANGE"
    FILE_TYPE_NOT_ALLOWED = "FILE_TYPE_NOT_ALLOWED"
    FILE_TOO_LARGE = "FILE_TOO_LARGE"
    RATE_LIMITED = "RATE_LIMITED"
    PROVIDER_UNAVAILABLE = "PROVIDER_UNAVAILABLE"

    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    REQUEST_TOO_LARGE = "REQUEST_TOO_LARGE"
    UNSUPPORTED_MEDIA_TYPE = "UNSUPPORTED_MEDIA_TYPE"
    INTERNAL_ERROR = "INTERNAL_ERROR"


@dataclass(frozen=True, slots=True)
class ErrorRule:
    """What goes with a code. `retryable` makes the client repeat a read once, at once: for real transients only."""

    status: int
    client_code: ClientCode
    message: str
    retryable: bool = False


def _rules() -> dict[ErrorCode, ErrorRule]:
    code, seen = ErrorCode, ClientCode
    return {
        code.UNAUTHENTICATED: ErrorRule(401, seen.UNAUTHENTICATED, "The credentials are missing or not valid."),
        code.FORBIDDEN: ErrorRule(403, seen.FORBIDDEN, "This action is not allowed."),
        code.NOT_FOUND: ErrorRule(404, seen.NOT_FOUND, "There is no such resource."),
        code.CONFLICT: ErrorRule(409, seen.CONFLICT, "The request does not fit the resource's present state."),
        code.OPERATION_PENDING: ErrorRule(409, seen.OPERATION_PENDING, "Another operation is still running."),
        code.KNOWLEDGE_PROVIDER_UNAVAILABLE: ErrorRule(
            503, seen.PROVIDER_UNAVAILABLE, "The service is unavailable for the moment.", retryable=True
        ),
        code.INVALID_INPUT: ErrorRule(422, seen.INVALID_INPUT, "The request is not valid."),
        code.METADATA_FIELD_NOT_ALLOWED: ErrorRule(
            400, seen.METADATA_FIELD_NOT_ALLOWED, "The metadata hold a field that is not allowed."
        ),
        code.METADATA_FILTER_FIELD_NOT_ALLOWED: ErrorRule(
            400, seen.METADATA_FILTER_FIELD_NOT_ALLOWED, "The metadata filter holds a field that is not allowed."
        ),
        code.METADATA_VALUE_INVALID: ErrorRule(400, seen.METADATA_VALUE_INVALID, "A metadata value is not valid."),
        code.METADATA_TOO_LARGE: ErrorRule(400, seen.METADATA_TOO_LARGE, "The metadata are too large."),
        code.SPACE_DISABLED: ErrorRule(403, seen.FORBIDDEN, "The space is disabled."),
        code.SPACE_NOT_FOUND: ErrorRule(404, seen.NOT_FOUND, "There is no such space."),
        code.DOCUMENT_NOT_FOUND: ErrorRule(404, seen.NOT_FOUND, "There is no such document."),
        code.FILE_NOT_FOUND: ErrorRule(404, seen.NOT_FOUND, "There is no such file."),
        code.OPERATION_NOT_FOUND: ErrorRule(404, seen.NOT_FOUND, "There is no such operation."),
        code.SPACE_VERSION_CONFLICT: ErrorRule(409, seen.CONFLICT, "The space has changed since it was read."),
        code.DOCUMENT_VERSION_CONFLICT: ErrorRule(409, seen.CONFLICT, "The document has changed since it was read."),
        code.DOCUMENT_NOT_READY: ErrorRule(409, seen.OPERATION_PENDING, "The document has no active version yet."),
        code.OPERATION_NOT_CANCELLABLE: ErrorRule(409, seen.CONFLICT, "The operation cannot be cancelled."),
        code.OPERATION_NOT_RETRYABLE: ErrorRule(409, seen.CONFLICT, "The operation cannot be retried."),
        code.OPERATION_MANUAL_RETRY_LIMIT_EXCEEDED: ErrorRule(
            409, seen.CONFLICT, "The operation has been retried as often as is allowed."
        ),
        code.SPACE_NOT_EMPTY: ErrorRule(409, seen.CONFLICT, "The space still holds documents."),
        code.SPACE_HAS_PENDING_OPERATIONS: ErrorRule(409, seen.CONFLICT, "The space still has running operations."),
        code.INVALID_CONTEXT_RANGE: ErrorRule(
            422, seen.INVALID_INPUT, "The context before and after must each be 0 to 5000 code points."
        ),
        code.FILE_TYPE_NOT_ALLOWED: ErrorRule(415, seen.INVALID_INPUT, "Files of this type are not accepted."),
        code.FILE_TOO_LARGE: ErrorRule(413, seen.INVALID_INPUT, "The file is too large."),
        code.RATE_LIMITED: ErrorRule(
            429, seen.PROVIDER_UNAVAILABLE, "Too much is being asked for at once.", retryable=True
        ),
        code.PROVIDER_UNAVAILABLE: ErrorRule(
            503, seen.PROVIDER_UNAVAILABLE, "The service is unavailable for the moment.", retryable=True
        ),
        code.METHOD_NOT_ALLOWED: ErrorRule(405, seen.INVALID_INPUT, "This method is not allowed here."),
        code.REQUEST_TOO_LARGE: ErrorRule(413, seen.INVALID_INPUT, "The request is too large."),
        code.UNSUPPORTED_MEDIA_TYPE: ErrorRule(
            415, seen.INVALID_INPUT, "The body is not of the media type that is taken here."
        ),
        code.INTERNAL_ERROR: ErrorRule(500, seen.PROVIDER_UNAVAILABLE, "Something went wrong on our side."),
    }


ERROR_RULES: Final = MappingProxyType(_rules())


class FieldError(Body):
    """One thing that is wrong with a request: where, a stable reason, and a sentence that repeats no value."""

    field: Annotated[str, Field(min_length=1, max_length=256)]
    reason: Annotated[str, Field(min_length=1, max_length=128)]
    message: Annotated[str, Field(min_length=1, max_length=2000)]


class ApiError(Body):
    """`meta.error` of every answer that is not a success."""

    code: Annotated[str, Field(min_length=1, max_length=128)]
    message: Annotated[str, Field(min_length=1, max_length=2000)]
    retryable: bool
    field_errors: Annotated[tuple[FieldError, ...], Field(max_length=MAX_FIELD_ERRORS)]

    @classmethod
    def of(cls, code: ErrorCode, message: str | None = None, field_errors: Sequence[FieldError] = ()) -> Self:
        """The error of a code with its usual text unless another is given; field errors past 100 are left out."""
        rule = ERROR_RULES[code]
        return cls(
            code=code,
            message=message or rule.message,
            retryable=rule.retryable,
            field_errors=tuple(field_errors[:MAX_FIELD_ERRORS]),
        )


class RequestRefused(Exception):
    """A request that cannot be read, with the code to answer and what is wrong where.

    It is not a ValueError, so pydantic lets it pass unchanged: the first metadata error wins over all others.
    """

    def __init__(self, code: ErrorCode, field_errors: Sequence[FieldError]) -> None:
        super().__init__(code.value)
        self.code = code
        self.field_errors = tuple(field_errors)


def invalid(field: str, reason: str, message: str) -> RequestRefused:
    """A request that is not valid for one reason."""
    return RequestRefused(ErrorCode.INVALID_INPUT, (FieldError(field=field, reason=reason, message=message),))
