"""Errors that are told to people: what happened, to what, and what they can do."""

from collections.abc import Mapping

from shared.client.errors import BrokenAnswer, Busy, ErrorAnswer, Refused, StillRunning, Unreachable
from shared.contracts.errors import ErrorCode
from shared.domain.errors import KnowgateError

FAILED = 1
"""The exit code of a command that did not do what it was asked to."""


class Complaint(Exception):
    """An expected error of a command: `what` happened and what `remedy` there is."""

    def __init__(self, what: str, remedy: str = "", *, exit_code: int = FAILED) -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy
        self.exit_code = exit_code


def complaint_of(error: KnowgateError) -> Complaint:
    """An error of the product in words for people."""
    match error:
        case Refused() | Busy():
            return Complaint(_told(error.answer), _remedy(error.answer))
        case Unreachable():
            return Complaint(error.message, "Is it up? `knowgate up` starts it here, `knowgate doctor` looks closer.")
        case StillRunning():
            return Complaint(error.message, "It goes on by itself; `knowgate operations watch ID` follows it.")
        case BrokenAnswer():
            return Complaint(error.message, "Is the address that of a gateway of this version?")
        case _:
            return Complaint(error.message)


def explain(error: KnowgateError) -> str:
    """The same in one line, for a list of failures."""
    return complaint_of(error).what


_REMEDIES = {
    401: "Are token, assertion and session those of this gateway, and is the user neither disabled nor revoked? "
    "`knowgate token` makes new credentials for a local one.",
    403: "Ask for a role that allows it, or use another account.",
    404: "Check the id, and that this is the gateway, the tenant and the account that it belongs to.",
    413: "Split the file, or raise the limit (KNOWGATE_FILES_MAX_BYTES).",
    429: "Try again in a moment.",
    503: "Try again in a moment; `knowgate doctor` tells what is missing.",
}

_REMEDIES_BY_CODE: Mapping[str, str] = {
    ErrorCode.SPACE_DISABLED: "An administrator can enable it: `knowgate spaces enable --space CODE`.",
}
"""These win over that of the status."""


def _remedy(answer: ErrorAnswer) -> str:
    return _REMEDIES_BY_CODE.get(answer.code) or _REMEDIES.get(answer.status, "")


def _told(answer: ErrorAnswer) -> str:
    faults = "; ".join(f"{fault.field}: {fault.message}" for fault in answer.field_errors)
    return f"{answer.message} [{answer.code}]" + (f" ({faults})" if faults else "")
