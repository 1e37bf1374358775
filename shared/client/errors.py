"""How a request to the gateway may fail, for the one who made it.

Rejected
├── Refused         the gateway said no; asking again as it is does not help
├── BrokenAnswer    what came back is not what the contract says
└── ContentChanged  a file became longer or shorter while it was sent
Transient
├── Busy            the gateway said: later
├── Unreachable     nothing came back
└── StillRunning    the work has not ended within the time given to it
"""

from dataclasses import dataclass
from datetime import timedelta

from shared.contracts.errors import ErrorCode, FieldError
from shared.domain.errors import Rejected, Transient


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorAnswer:
    """What the gateway answered to a request that did not succeed."""

    status: int
    code: str
    message: str
    retryable: bool
    field_errors: tuple[FieldError, ...]
    request_id: str
    retry_after: timedelta | None = None


class Refused(Rejected):
    """The gateway refused the request; `answer` says why."""

    def __init__(self, answer: ErrorAnswer) -> None:
        super().__init__(answer.message)
        self.answer = answer
        self.code = _known_code(answer.code)


class Busy(Transient):
    """The gateway cannot do it now; `answer` says why, `retry_after` when to ask again."""

    def __init__(self, answer: ErrorAnswer) -> None:
        super().__init__(answer.message, retry_after=answer.retry_after)
        self.answer = answer
        self.code = _known_code(answer.code)


class Unreachable(Transient):
    """No answer: the gateway does not run, or the connection was lost."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"{address} did not answer: {reason}.")
        self.address = address


class StillRunning(Transient):
    """What was waited for has not ended in the given time; it goes on."""

    def __init__(self, what: str, within: timedelta) -> None:
        super().__init__(f"{what} has not ended within {within.total_seconds():g} s.")


class BrokenAnswer(Rejected):
    """The answer does not keep the contract; `what` says where it was broken, never what it held."""

    def __init__(self, request: str, what: str) -> None:
        super().__init__(f"The answer to {request} does not keep the contract: {what}.")


class ContentChanged(Rejected):
    """A file is not as long as it was when its upload began."""

    message = "The file changed while it was being sent."


def _known_code(code: str) -> ErrorCode:
    """A newer gateway may send a code that this client does not know; its exact text is in the answer."""
    try:
        return ErrorCode(code)
    except ValueError:
        return ErrorCode.INTERNAL_ERROR
