"""What the scripted provider is told: how it behaves for documents by the name of their file."""

from datetime import timedelta
from enum import StrEnum, unique

from pydantic import Field

from shared.contracts.enums import FailureReason
from shared.contracts.wire import Maybe, Wire


@unique
class Call(StrEnum):
    """One kind of call that may be told to go wrong, and is counted."""

    PROVISION = "provision"
    REMOVE_SPACE = "remove-space"
    UPLOAD = "upload"
    FIND = "find"
    START = "start"
    STOP = "stop"
    PROBE = "probe"
    REMOVE = "remove"
    SEARCH = "search"


@unique
class Fault(StrEnum):
    """What goes wrong with one call; the fields of `Faults` say how often, in this order."""

    UNAVAILABLE = "unavailable"
    THROTTLED = "throttled"
    ABSENT = "absent"
    LOST = "lost"
    DEADLY = "deadly"


class Faults(Wire):
    """What goes wrong with the first calls of a kind, in this order; all later ones go well."""

    unavailable: int = Field(default=0, ge=0)
    """So many fail without an effect."""
    throttled: int = Field(default=0, ge=0)
    """Then so many are told to come back after `retry_after`."""
    retry_after: timedelta = timedelta(seconds=1)
    absent: int = Field(default=0, ge=0)
    """Then so many are answered as if what they are about were not there."""
    lost: int = Field(default=0, ge=0)
    """Then so many take effect, and their answer is lost."""
    deadly: int = Field(default=0, ge=0)
    """Then so many take effect, and kill the process that made them before it hears of it."""

    def of_call(self, number: int) -> Fault | None:
        """What goes wrong with the call of this number, from 1."""
        for fault in Fault:
            number -= int(getattr(self, fault.value))
            if number <= 0:
                return fault
        return None


class Script(Wire):
    """How the provider behaves. As it stands, everything goes well and at once."""

    faults: dict[Call, Faults] = Field(default_factory=dict)
    delays: dict[Call, timedelta] = Field(default_factory=dict)
    """How long calls of a kind take."""
    rejects: Maybe[FailureReason] = None
    """The file is refused for good at its upload."""
    ingest_time: timedelta = timedelta(0)
    """From the start of an ingest to its end."""
    percents: tuple[int, ...] = ()
    """The figures it reports meanwhile, each for an equal part of the time; they may run backwards."""
    failed_ingests: int = Field(default=0, ge=0)
    """So many ingests end FAILED before one succeeds."""
    failure: Maybe[FailureReason] = None
    """What it says of a failed ingest; nothing when absent."""
    ignores_stop: bool = False
    late_success: Maybe[timedelta] = None
    """An ingest that failed or was stopped turns out done so long afterwards."""
    chunks: Maybe[int] = None
    """How many chunks it claims to have made; absent: one for each paragraph."""
    chunks_lag: timedelta = timedelta(0)
    """How long after the end of an ingest it still counts no chunks."""
    is_unreadable: bool = False
    """A probe finds nothing."""
    removal_lag: timedelta = timedelta(0)
    """How long searches and lists still show what was removed."""
    foreign_hits: bool = False
    """Searches also return passages of documents that were not allowed."""


OBEDIENT = Script()
"""The script of documents that have none."""

EVERY_FILE = "*"
"""The name under which a script holds for all files that have none of their own."""
