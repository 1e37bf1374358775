"""How the work on a command can end, and which outcome an error is."""

from dataclasses import dataclass
from datetime import timedelta

from shared.contracts.enums import FailureClass, FailureReason, InterruptReason
from shared.contracts.events import StepResult
from shared.domain.errors import (
    ContentRejected,
    KnowgateError,
    NotFound,
    ProviderThrottled,
    ProviderUnavailable,
    Rejected,
    Skipped,
    StoreUnavailable,
    Transient,
)
from shared.domain.failure import FAILURES


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The effect is there."""

    result: StepResult


@dataclass(frozen=True, slots=True)
class Purged:
    """What was to be removed is gone."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Nothing of the version runs or remains at the provider."""


@dataclass(frozen=True, slots=True)
class TooLate:
    """The provider had finished before it could be stopped."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The command is handed back unfinished."""

    reason: InterruptReason


@dataclass(frozen=True, slots=True)
class Failed:
    """The effect is not there."""

    reason: FailureReason
    retry_after: timedelta | None = None

    @property
    def failure_class(self) -> FailureClass:
        """What is to be done about it."""
        return FAILURES[self.reason].failure_class

    @property
    def text(self) -> str:
        """What people are told."""
        return FAILURES[self.reason].text


Outcome = Succeeded | Purged | Cancelled | TooLate | Interrupted | Failed


class Fenced(Skipped):
    """This delivery may have been given to another worker: stop without another write and without an answer."""

    message = "The command may be in other hands."


REASONS: tuple[tuple[type[KnowgateError], FailureReason], ...] = (
    (NotFound, FailureReason.FILE_MISSING),
    (Rejected, FailureReason.PROVIDER_REFUSED),
    (ProviderThrottled, FailureReason.PROVIDER_THROTTLED),
    (ProviderUnavailable, FailureReason.PROVIDER_UNAVAILABLE),
    (StoreUnavailable, FailureReason.INTERNAL_ERROR),
    (Transient, FailureReason.PROVIDER_UNAVAILABLE),
    (Skipped, FailureReason.INTERNAL_ERROR),
)
"""Which failure an error of a step is; the first that fits. ContentRejected brings its own reason."""


def outcome_of(error: KnowgateError) -> Failed:
    """The outcome of a step that ended in one of our errors."""
    if isinstance(error, ContentRejected):
        return Failed(error.reason)
    reason = next((reason for kind, reason in REASONS if isinstance(error, kind)), FailureReason.INTERNAL_ERROR)
    return Failed(reason, error.retry_after if isinstance(error, Transient) else None)
