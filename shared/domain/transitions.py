"""The one gate through which every status moves, and the error for a move that no table allows."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

Status = TypeVar("Status", bound=StrEnum)

Table = Mapping[Status, frozenset[Status]]
"""For each status the ones it may move to. A test proves every table total."""


class IllegalMove(AssertionError):
    """A bug of ours: code asked for a move that the table does not hold."""


def move(table: Table[Status], now: Status, then: Status) -> Status:
    """Return `then` if the table allows the move from `now`; IllegalMove otherwise."""
    if then not in table[now]:
        raise IllegalMove(f"{type(now).__name__}: {now.value} may not become {then.value}")
    return then


def may_move(table: Table[Status], now: Status, then: Status) -> bool:
    """Whether the table allows the move from `now` to `then`."""
    return then in table[now]


def terminal(table: Table[Status]) -> frozenset[Status]:
    """The statuses that are never left."""
    return frozenset(status for status, nexts in table.items() if not nexts)
