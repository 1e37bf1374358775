"""A rule that is led up to, and the world in which it is."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.conformance.client import Client
from tests.conformance.stage import Running


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A gateway, and one who speaks to it; `speaker.of(user)` is another one."""

    gateway: Running
    speaker: Client


Play = Callable[[World], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One named rule. It holds when `play` ends, and is broken when that raises."""

    rule: str
    play: Play


def rule(name: str) -> Callable[[Play], Scenario]:
    """Give a play its rule's name."""
    return lambda play: Scenario(name, play)
