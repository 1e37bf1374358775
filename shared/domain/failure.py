"""What each failure reason means: its class, the text that people see, and the contract's failure code."""

from dataclasses import dataclass

from shared.contracts.enums import FailureClass, FailureCode, FailureReason


@dataclass(frozen=True, slots=True)
class FailureMeaning:
    """The class decides what happens next; the text is safe to show and says what to do."""

    failure_class: FailureClass
    text: str


FAILURES: dict[FailureReason, FailureMeaning] = {
    FailureReason.FILE_ENCRYPTED: FailureMeaning(
        FailureClass.PERMANENT, "The file is protected with a password. Remove the protection and upload it again."
    ),
    FailureReason.FILE_EMPTY: FailureMeaning(FailureClass.PERMANENT, "The file is empty."),
    FailureReason.FILE_SCANNED: FailureMeaning(
        FailureClass.PERMANENT, "The pages are pictures without text. Run text recognition and upload the result."
    ),
    FailureReason.FILE_UNSUPPORTED: FailureMeaning(
        FailureClass.PERMANENT, "Files of this type cannot be read. Convert it to PDF, DOCX, HTML or plain text."
    ),
    FailureReason.FILE_CORRUPT: FailureMeaning(
        FailureClass.PERMANENT, "The file is damaged and cannot be read. Export it again and upload the new file."
    ),
    FailureReason.FILE_TOO_LARGE: FailureMeaning(
        FailureClass.PERMANENT, "The file's content is larger than the limit. Split it into smaller files."
    ),
    FailureReason.FILE_TOO_COMPLEX: FailureMeaning(
        FailureClass.PERMANENT, "Reading the file took more memory or time than allowed. Split or simplify it."
    ),
    FailureReason.FILE_MISSING: FailureMeaning(
        FailureClass.PERMANENT, "The stored file is no longer there. Upload it again."
    ),
    FailureReason.NO_TEXT: FailureMeaning(FailureClass.PERMANENT, "No text was found in the file."),
    FailureReason.PARSER_CRASHED: FailureMeaning(FailureClass.TRANSIENT, "Reading the file ended unexpectedly."),
    FailureReason.NOT_VERIFIED: FailureMeaning(FailureClass.TRANSIENT, "The indexed content could not be verified."),
    FailureReason.PROVIDER_UNAVAILABLE: FailureMeaning(
        FailureClass.TRANSIENT, "The retrieval provider was not available."
    ),
    FailureReason.PROVIDER_THROTTLED: FailureMeaning(
        FailureClass.THROTTLED, "The retrieval provider asked to slow down."
    ),
    FailureReason.PROVIDER_REFUSED: FailureMeaning(FailureClass.PERMANENT, "The retrieval provider refused the file."),
    FailureReason.STEP_DEADLINE: FailureMeaning(
        FailureClass.TRANSIENT, "The step did not finish within its time limit."
    ),
    FailureReason.WORKER_STOPPED: FailureMeaning(FailureClass.INTERRUPTED, "The worker was stopped."),
    FailureReason.WORKER_CRASHED: FailureMeaning(
        FailureClass.INTERRUPTED, "The worker ended unexpectedly while it worked on this."
    ),
    FailureReason.MESSAGE_UNREADABLE: FailureMeaning(
        FailureClass.PERMANENT, "The command for this step could not be read."
    ),
    FailureReason.INTERNAL_ERROR: FailureMeaning(
        FailureClass.TRANSIENT, "Something unexpected happened while working on this."
    ),
    FailureReason.ENDED_BY_OPERATOR: FailureMeaning(
        FailureClass.INTERRUPTED, "An operator has ended the work. It can be tried again."
    ),
}
"""Every reason has a meaning; a test proves the table total."""

FAILURE_CODES: dict[FailureClass, FailureCode] = {
    FailureClass.TRANSIENT: FailureCode.PROVIDER_UNAVAILABLE,
    FailureClass.THROTTLED: FailureCode.PROVIDER_UNAVAILABLE,
    FailureClass.PERMANENT: FailureCode.INVALID_INPUT,
    FailureClass.INTERRUPTED: FailureCode.PROVIDER_UNAVAILABLE,
    FailureClass.CANCELLED: FailureCode.CONFLICT,
}
"""The seven codes of the contract, by class."""


def failure_code(reason: FailureReason) -> FailureCode:
    """The contract's code for a failure reason."""
    return FAILURE_CODES[FAILURES[reason].failure_class]
