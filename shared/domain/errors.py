"""The tree of errors; branches say what the receiver must do, leaves name the cause.

KnowgateError
├── Rejected                 never retry as it is
│   ├── Unauthenticated      who is calling is not known
│   ├── Forbidden            known, and not allowed
│   │   └── SpaceDisabled
│   ├── NotFound             absent, foreign or invisible: the same answer for all three
│   │   ├── SpaceNotFound, DocumentNotFound, OperationNotFound
│   │   └── LetterNotFound, ReconciliationNotFound
│   ├── Conflict             the state or the version is another one
│   │   ├── StaleVersion, StaleSpace
│   │   ├── SpaceNotEmpty, SpaceBusy
│   │   ├── NotCancellable, NotRetryable, RetryLimitReached, AlreadyEnded
│   │   └── LetterSettled, NotReplayable
│   ├── OperationPending     something else runs on it; wait for that
│   ├── InvalidInput         a field is wrong
│   │   └── FileRefused      the file cannot be taken: empty, wrong type, too large
│   └── ContentRejected      the file's content can never be ingested
├── Transient                the same request may succeed later
│   ├── ProviderUnavailable
│   │   └── ProviderThrottled
│   ├── StoreUnavailable     database, broker or object store
│   └── LimitReached         a limit that is named; retry after a while
└── Skipped                  already so, nothing to do
"""

from dataclasses import dataclass
from datetime import timedelta

from shared.contracts.enums import FailureReason, FileFault
from shared.contracts.errors import ErrorCode

LIMIT_REACHED = "LIMIT_REACHED"
"""The reason of a fault whose field is the name of a limit."""


@dataclass(frozen=True, slots=True)
class FieldFault:
    """One wrong field: its JSON path, a stable reason and a text for people."""

    field: str
    reason: str
    message: str


def absent_at(field: str) -> FieldFault:
    """An id, at this place of a request, that names nothing the caller may see."""
    return FieldFault(field, "NOT_FOUND", "There is none of this id, or you may not see it.")


class KnowgateError(Exception):
    """The root. `code` is stable and the same in HTTP, events, logs and metric labels."""

    code: ErrorCode = ErrorCode.INTERNAL_ERROR
    message: str = "Something unexpected happened."

    def __init__(self, message: str | None = None, *, faults: tuple[FieldFault, ...] = ()) -> None:
        self.message = message or self.message
        self.faults = faults
        super().__init__(self.message)


class Rejected(KnowgateError):
    """Never retry as it is."""


class Unauthenticated(Rejected):
    """Who is calling is not known. It says nothing more."""

    code = ErrorCode.UNAUTHENTICATED
    message = "The service token or the user assertion is missing, expired or does not fit this session."


class Forbidden(Rejected):
    """The caller is known and may not do this."""

    code = ErrorCode.FORBIDDEN
    message = "You may not do this."


class SpaceDisabled(Forbidden):
    """The space takes no mutations and no searches."""

    code = ErrorCode.SPACE_DISABLED
    message = "The knowledge space is disabled."


class NotFound(Rejected):
    """Absent, foreign and invisible are the same answer."""

    code = ErrorCode.NOT_FOUND
    message = "There is no such resource, or you may not see it."


class SpaceNotFound(NotFound):
    """No space of this id that the caller may see."""

    code = ErrorCode.SPACE_NOT_FOUND
    message = "There is no such knowledge space, or you may not see it."


class DocumentNotFound(NotFound):
    """No document of this id that the caller may see."""

    code = ErrorCode.DOCUMENT_NOT_FOUND
    message = "There is no such document, or you may not see it."


class OperationNotFound(NotFound):
    """No operation of this id whose resource the caller may see."""

    code = ErrorCode.OPERATION_NOT_FOUND
    message = "There is no such operation, or you may not see what it is about."


class LetterNotFound(NotFound):
    """No dead letter of this id that the caller may settle."""

    message = "There is no such dead letter, or it is not of your tenant."


class ReconciliationNotFound(NotFound):
    """No reconciliation of this id of the caller's tenant."""

    message = "There is no such reconciliation, or it is not of your tenant."


class Conflict(Rejected):
    """The resource is in a state that does not allow this."""

    code = ErrorCode.CONFLICT
    message = "The resource is in a state that does not allow this."


class StaleVersion(Conflict):
    """`expectedVersion` is not the current one."""

    code = ErrorCode.DOCUMENT_VERSION_CONFLICT
    message = "The document has changed since you read it. Read it again and use its current version."


class StaleSpace(Conflict):
    """`expectedVersion` is not the space's current one."""

    code = ErrorCode.SPACE_VERSION_CONFLICT
    message = "The space has changed since you read it. Read it again and use its current version."


class SpaceNotEmpty(Conflict):
    """A space is deleted only when every document in it is deleted."""

    code = ErrorCode.SPACE_NOT_EMPTY
    message = "The space still holds documents. Delete them first."


class SpaceBusy(Conflict):
    """A space is deleted only when nothing runs in it."""

    code = ErrorCode.SPACE_HAS_PENDING_OPERATIONS
    message = "Operations in the space have not finished. Wait for them."


class NotCancellable(Conflict):
    """The operation is over, or of a type that cannot be cancelled."""

    code = ErrorCode.OPERATION_NOT_CANCELLABLE
    message = "The operation cannot be cancelled."


class NotRetryable(Conflict):
    """The operation did not fail, cannot succeed, or something newer has taken its place."""

    code = ErrorCode.OPERATION_NOT_RETRYABLE
    message = "The operation cannot be retried."


class RetryLimitReached(Conflict):
    """Three manual retries per root operation."""

    code = ErrorCode.OPERATION_MANUAL_RETRY_LIMIT_EXCEEDED
    message = "The operation has used up its manual retries."


class AlreadyEnded(Conflict):
    """The operation is over: nobody can end it any more."""

    message = "The operation has ended already."


class LetterSettled(Conflict):
    """The dead letter was replayed or discarded."""

    message = "The dead letter is settled already."


class NotReplayable(Conflict):
    """A command that could not be read was answered as failed; only an event can be applied again."""

    message = (
        "Only an event can be replayed. A command was answered as failed: retry its operation, or discard the letter."
    )


class OperationPending(Rejected):
    """Something else runs on the resource."""

    code = ErrorCode.OPERATION_PENDING
    message = "Another operation on this resource has not finished. Wait for it."


class InvalidInput(Rejected):
    """A field is wrong."""

    code = ErrorCode.INVALID_INPUT
    message = "The request is not valid."


class FileRefused(InvalidInput):
    """The file cannot be taken at all."""

    def __init__(
        self, message: str, fault: FileFault, *, code: ErrorCode = ErrorCode.INVALID_INPUT, field: str = "file"
    ) -> None:
        super().__init__(message, faults=(FieldFault(field, fault.value, message),))
        self.code = code
        self.fault = fault


class ContentRejected(Rejected):
    """The file's content can never be ingested; `reason` says why."""

    code = ErrorCode.INVALID_INPUT

    def __init__(self, reason: FailureReason) -> None:
        super().__init__(f"The content was rejected: {reason.value}.")
        self.reason = reason


class Transient(KnowgateError):
    """The same request may succeed later; `retry_after` when something is known about when."""

    code = ErrorCode.KNOWLEDGE_PROVIDER_UNAVAILABLE
    message = "A part of the gateway is not available right now."

    def __init__(
        self,
        message: str | None = None,
        *,
        retry_after: timedelta | None = None,
        faults: tuple[FieldFault, ...] = (),
    ) -> None:
        super().__init__(message, faults=faults)
        self.retry_after = retry_after


class ProviderUnavailable(Transient):
    """The retrieval provider did not answer, or answered that it cannot."""

    code = ErrorCode.PROVIDER_UNAVAILABLE
    message = "The retrieval provider is not available right now."


class ProviderThrottled(ProviderUnavailable):
    """The provider asked for fewer requests."""

    message = "The retrieval provider asked to slow down."


class StoreUnavailable(Transient):
    """Database, broker or object store did not answer in time."""

    message = "The gateway's storage is not available right now."


class LimitReached(Transient):
    """A limit of ours was reached; the answer names it."""

    code = ErrorCode.RATE_LIMITED
    message = "A limit was reached. Try again later."

    def __init__(self, limit: str, *, retry_after: timedelta) -> None:
        super().__init__(retry_after=retry_after, faults=(FieldFault(limit, LIMIT_REACHED, self.message),))


class Skipped(KnowgateError):
    """Already so; nothing to do."""

    message = "Nothing to do."
