"""Counts what every rule had to say, and tells it: a rule passes when it was looked at and never broken."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from tests.conformance.rules.finding import Finding

MOST_COMPLAINTS: Final = 3
"""Told of one rule."""


@dataclass(slots=True)
class Entry:
    """What is known of one rule."""

    looks: int = 0
    complaints: list[str] = field(default_factory=list)

    @property
    def passes(self) -> bool:
        """Whether it was looked at and never broken."""
        return self.looks > 0 and not self.complaints

    def line(self, rule: str) -> str:
        """The rule's line of the report."""
        if self.passes:
            return f"ok      {rule} ({self.looks})"
        if not self.complaints:
            return f"FAILED  {rule}: nothing that it speaks of was seen"
        shown = " | ".join(self.complaints[:MOST_COMPLAINTS])
        return f"FAILED  {rule}: {len(self.complaints)} of {self.looks}: {shown}"


class Ledger:
    """The rules of a run."""

    def __init__(self, rules: Iterable[str], tell: Callable[[str], None]) -> None:
        """All the names there are; `tell` takes the report line by line."""
        self._entries = {rule: Entry() for rule in rules}
        self._told: set[str] = set()
        self._tell = tell

    def note(self, finding: Finding, where: str = "") -> None:
        """Enter what was found."""
        entry = self._entries[finding.rule]
        entry.looks += 1
        if finding.complaint is not None:
            entry.complaints.append(f"{where}: {finding.complaint}" if where else finding.complaint)

    def tell(self, rule: str, note: str = "") -> None:
        """Tell of a rule that nothing more will be noted of."""
        if rule not in self._told:
            self._told.add(rule)
            self._tell(self._entries[rule].line(rule) + note)

    def close(self) -> None:
        """Tell of all that is left."""
        for rule in self._entries:
            self.tell(rule)

    def passed(self, rules: Iterable[str] | None = None) -> int:
        """How many of these, or of all, pass."""
        return sum(self._entries[rule].passes for rule in (self._entries if rules is None else rules))

    @property
    def broken(self) -> list[str]:
        """The lines of those that were looked at and do not hold."""
        return [entry.line(rule) for rule, entry in self._entries.items() if entry.complaints]

    @property
    def rules(self) -> int:
        """How many there are."""
        return len(self._entries)
