"""What the documents say, and how the provider behaves for them, told by the names of their files."""

import hashlib
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from shared.contracts.enums import FailureReason
from shared.providers.scripted.script import EVERY_FILE, Call, Faults, Script

QUERY: Final = "turbine bearing"
"""Stands in every paragraph of every document."""
PARAGRAPHS: Final = 4
MARK: Final = re.compile(r"mark-[a-z]+-[0-9]+")

SECOND: Final = timedelta(seconds=1)
SEARCH_TAKES: Final = timedelta(milliseconds=40)
"""So long versions may be switched between the two looks of a search at what may be found."""

BEHAVIOURS: Final[Mapping[str, Script]] = {
    EVERY_FILE: Script(delays={Call.SEARCH: SEARCH_TAKES}),
    "plain.md": Script(),
    "slow.md": Script(ingest_time=2 * SECOND, percents=(10, 60, 30, 99)),
    "long.md": Script(ingest_time=6 * SECOND),
    "unavailable.md": Script(faults={Call.UPLOAD: Faults(unavailable=2), Call.START: Faults(unavailable=1)}),
    "throttled.md": Script(
        faults={Call.UPLOAD: Faults(throttled=1), Call.START: Faults(throttled=1, retry_after=2 * SECOND)}
    ),
    "lost.md": Script(
        ingest_time=SECOND / 2,
        faults={call: Faults(lost=1) for call in (Call.UPLOAD, Call.START, Call.STOP, Call.REMOVE)},
    ),
    "failing.md": Script(failed_ingests=2),
    "hopeless.md": Script(failed_ingests=1000),
    "late.md": Script(failed_ingests=1, late_success=2 * SECOND),
    "stubborn.md": Script(ingest_time=3 * SECOND, ignores_stop=True),
    "waking.md": Script(ingest_time=4 * SECOND, late_success=SECOND),
    "lagging.md": Script(removal_lag=3 * SECOND, faults={Call.REMOVE: Faults(unavailable=1)}),
    "empty.md": Script(chunks=0),
    "foreign.md": Script(foreign_hits=True),
    "rejected.md": Script(rejects=FailureReason.FILE_ENCRYPTED),
    "creeping.md": Script(delays=dict.fromkeys((Call.UPLOAD, Call.START, Call.REMOVE), SECOND)),
}
"""All that can go wrong at the provider, each for the files of one name."""

FILE_NAMES: Final = tuple(name for name in BEHAVIOURS if name != EVERY_FILE)
FIRST_FILES: Final = ("plain.md", "slow.md", "lost.md", "foreign.md")
"""Files that a document can begin with for certain."""


def text_of(mark: str) -> bytes:
    """A document's text; every paragraph bears the mark, by which a hit tells which text it is from."""
    paragraphs = (f"The turbine log {mark} says that bearing {number} was checked." for number in range(PARAGRAPHS))
    return "\n\n".join((f"# Log {mark}", *paragraphs)).encode()


def digest_of(mark: str) -> str:
    """The SHA-256, in hex, of the text with this mark."""
    return hashlib.sha256(text_of(mark)).hexdigest()


def marks_in(text: str) -> frozenset[str]:
    """The marks that stand in a hit."""
    return frozenset(MARK.findall(text))
