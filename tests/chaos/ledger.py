"""Everything that callers were answered during a run, kept as it comes."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from tests.chaos.oracle.world import Accepted, Answer, Look, ToldEvent


@dataclass(slots=True)
class Ledger:
    """One for a run; all callers write in it."""

    accepted: list[Accepted] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    told: list[ToldEvent] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    strange: Counter[str] = field(default_factory=Counter)
    """Answers that do not keep the contract, in words."""
    refused: Counter[str] = field(default_factory=Counter)
    """Refusals by code: most of them are what a busy document answers."""
    unavailable: int = 0
    """Searches and citations that were to be asked for again."""
    interrupted_uploads: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something that was done to a part of the gateway."""

    at: datetime
    kind: str
    target: str
    pid: int
    seconds: float = 0.0
