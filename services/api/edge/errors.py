"""Turns errors outward: which code, status and text a caller gets for what was raised."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Final

from shared.contracts.errors import ERROR_RULES, ApiError, ErrorCode, FieldError, RequestRefused
from shared.database.errors import UniqueViolation
from shared.domain.errors import Conflict, FieldFault, KnowgateError, OperationPending, Rejected, Transient

SILENT: Final = frozenset({ErrorCode.UNAUTHENTICATED, ErrorCode.INTERNAL_ERROR})
"""These never tell more than their usual text."""

WITH_RETRY_AFTER: Final = frozenset({429, 503})
USUAL_WAIT: Final = timedelta(seconds=1)
LONGEST_MESSAGE: Final = 2000
LONGEST_FIELD: Final = 256
LONGEST_REASON: Final = 128

RACES: Final[Mapping[str, type[Rejected]]] = MappingProxyType(
    {"space_code_once": Conflict, "operation_one_at_a_time": OperationPending}
)
"""What it means that two requests at once wanted what only one may have, by the rule that refused the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An error as it is answered."""

    error: ApiError
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_ours(self) -> bool:
        """Whether it is our failure and not the caller's."""
        return self.status >= 500


def refuse(code: ErrorCode, message: str | None = None, headers: Mapping[str, str] | None = None) -> Refusal:
    """The refusal that a code means."""
    return Refusal(error=ApiError.of(code, message), status=ERROR_RULES[code].status, headers=headers or {})


def outward(error: Exception) -> Refusal:
    """What a caller gets for an error; one that nobody foresaw tells nothing of itself."""
    match error:
        case RequestRefused():
            refused = ApiError.of(error.code, field_errors=error.field_errors)
            return Refusal(error=refused, status=ERROR_RULES[error.code].status)
        case UniqueViolation():
            return outward(RACES.get(error.constraint, Conflict)())
        case KnowgateError():
            return _known(error)
        case _:
            return refuse(ErrorCode.INTERNAL_ERROR)


def _known(error: KnowgateError) -> Refusal:
    status = ERROR_RULES[error.code].status
    headers = {"Retry-After": _seconds(error)} if status in WITH_RETRY_AFTER else {}
    if error.code in SILENT:
        return Refusal(error=ApiError.of(error.code), status=status, headers=headers)
    faults = tuple(_field_error(fault) for fault in error.faults)
    return Refusal(
        error=ApiError.of(error.code, error.message[:LONGEST_MESSAGE], faults), status=status, headers=headers
    )


def _seconds(error: KnowgateError) -> str:
    wait = error.retry_after if isinstance(error, Transient) else None
    return str(max(1, math.ceil((wait or USUAL_WAIT).total_seconds())))


def _field_error(fault: FieldFault) -> FieldError:
    return FieldError(
        field=fault.field[:LONGEST_FIELD],
        reason=fault.reason[:LONGEST_REASON],
        message=fault.message[:LONGEST_MESSAGE],
    )
