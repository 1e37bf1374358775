"""What a verification has found, as people and programs are told."""

from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Final

from shared.contracts.wire import Maybe, Wire

MOST_FAULTS: Final = 1000
"""So many are named; all are counted."""


@unique
class FaultKind(StrEnum):
    """What is not as it was written."""

    ENTRY_CHANGED = "entry_changed"
    ENTRY_MISSING = "entry_missing"
    ENTRY_OUTSIDE = "entry_outside"
    UNSEALED_TOO_LONG = "unsealed_too_long"
    SEALED_AND_WAITING = "sealed_and_waiting"
    LINK_MISSING = "link_missing"
    LINK_CHANGED = "link_changed"
    LINK_BROKEN = "link_broken"
    WRONG_CHAIN = "wrong_chain"
    CHAIN_CUT = "chain_cut"
    CHAIN_REWRITTEN = "chain_rewritten"
    CHECKPOINT_FORGED = "checkpoint_forged"
    CHECKPOINT_OF_UNKNOWN_KEY = "checkpoint_of_unknown_key"
    CHECKPOINT_UNREADABLE = "checkpoint_unreadable"
    COPY_DIFFERS = "copy_differs"
    COPY_MISSING = "copy_missing"
    COPY_UNREADABLE = "copy_unreadable"


class Fault(Wire):
    """One thing that is wrong, and where."""

    kind: FaultKind
    chain: Maybe[str] = None
    seq: Maybe[int] = None
    entry_id: Maybe[str] = None
    explanation: str


class Report(Wire):
    """A whole verification."""

    chains: int
    entries: int
    checkpoints: int
    copies: Maybe[int] = None
    """Messages of the audit stream that were compared; absent when none were to be."""
    fault_count: int
    faults: tuple[Fault, ...]
    """The first of them."""
    remarks: tuple[str, ...]
    """What was not looked at, or means nothing bad."""


@dataclass(slots=True)
class Findings:
    """Gathers what a verification finds."""

    chains: int = 0
    entries: int = 0
    checkpoints: int = 0
    copies: int | None = None
    fault_count: int = 0
    faults: list[Fault] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def add(
        self,
        kind: FaultKind,
        explanation: str,
        *,
        chain: str | None = None,
        seq: int | None = None,
        entry_id: str | None = None,
    ) -> None:
        """Note a fault."""
        self.fault_count += 1
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(Fault(kind=kind, chain=chain, seq=seq, entry_id=entry_id, explanation=explanation))

    def report(self) -> Report:
        """All of it."""
        return Report(
            chains=self.chains,
            entries=self.entries,
            checkpoints=self.checkpoints,
            copies=self.copies,
            fault_count=self.fault_count,
            faults=tuple(self.faults),
            remarks=tuple(self.remarks),
        )
