"""What a rule has found in an answer."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.conformance.answers import Answer


class Finding(NamedTuple):
    """A rule that had something to say of an answer: that it holds there, or what is wrong."""

    rule: str
    complaint: str | None

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return self.complaint is None


Findings = Iterator[Finding]
Stage = Callable[[Answer], Findings]
"""Rules that are looked at together. What fails one stage is not looked at by the next: it would fail there too."""


def found(rule: str, holds: bool, complaint: str = "") -> Finding:
    """That the rule holds, or the complaint."""
    return Finding(rule, None if holds else complaint or "it does not")
