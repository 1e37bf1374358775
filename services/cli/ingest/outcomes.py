"""What became of a file, and of all of them together."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum, unique

from services.cli.ingest.sources import Source
from shared.contracts.ids import DocumentId


@unique
class Result(StrEnum):
    """How the ingestion of one file ended."""

    READY = "ready"
    """It is in the space, and found."""
    REPLACED = "replaced"
    """It had changed: its document has the new content now."""
    SKIPPED = "skipped"
    """Its content was there already."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one file, and why."""

    source: Source
    result: Result
    reason: str = ""
    document_id: DocumentId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What became of all files of one run."""

    outcomes: Sequence[Outcome]
    took: timedelta

    def count(self, result: Result) -> int:
        """How many ended so."""
        return Counter(outcome.result for outcome in self.outcomes)[result]

    @property
    def failures(self) -> Sequence[Outcome]:
        """Those that did not get in."""
        return [outcome for outcome in self.outcomes if outcome.result is Result.FAILED]
