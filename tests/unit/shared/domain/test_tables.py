"""Every table over a closed set is total, and no status is a dead end that should not be one."""

from enum import StrEnum
from typing import Any

import pytest

from shared.contracts.commands import COMMAND_BY_STEP
from shared.contracts.enums import (
    DocumentStatus,
    EventType,
    FailureClass,
    FailureReason,
    OperationStatus,
    OperationType,
    SpaceStatus,
    Step,
    VersionStatus,
)
from shared.contracts.events import EVENT_BY_TYPE, HINTS, TERMINAL_EVENTS
from shared.domain.document import DOCUMENT_MOVES
from shared.domain.failure import FAILURE_CODES, FAILURES
from shared.domain.operation import FIRST_STEP, NEXT_STEP, OPERATION_MOVES
from shared.domain.purge import PURGE_MOVES, PurgeStatus
from shared.domain.space import SPACE_MOVES
from shared.domain.transitions import IllegalMove, may_move, move, terminal
from shared.domain.version import VERSION_MOVES

TABLES: list[tuple[Any, type[StrEnum]]] = [
    (SPACE_MOVES, SpaceStatus),
    (DOCUMENT_MOVES, DocumentStatus),
    (VERSION_MOVES, VersionStatus),
    (OPERATION_MOVES, OperationStatus),
    (PURGE_MOVES, PurgeStatus),
    (FIRST_STEP, OperationType),
    (NEXT_STEP, Step),
    (FAILURES, FailureReason),
    (FAILURE_CODES, FailureClass),
    (COMMAND_BY_STEP, Step),
    (EVENT_BY_TYPE, EventType),
]


@pytest.mark.parametrize(("table", "members"), TABLES, ids=lambda item: getattr(item, "__name__", "table"))
def test_a_table_has_an_entry_for_every_member(table: Any, members: type[StrEnum]) -> None:
    assert set(table) == set(members)


def test_what_is_over_stays_over() -> None:
    assert terminal(OPERATION_MOVES) == {OperationStatus.SUCCEEDED, OperationStatus.FAILED, OperationStatus.CANCELLED}
    assert terminal(DOCUMENT_MOVES) == {DocumentStatus.DELETED}
    assert terminal(VERSION_MOVES) == {VersionStatus.DELETED}
    assert terminal(SPACE_MOVES) == {SpaceStatus.DELETED}


def test_every_version_can_be_deleted() -> None:
    for status in set(VersionStatus) - {VersionStatus.DELETED}:
        assert may_move(VERSION_MOVES, status, VersionStatus.DELETED)


def test_only_an_ingested_version_becomes_ready() -> None:
    befores = {status for status in VersionStatus if may_move(VERSION_MOVES, status, VersionStatus.READY)}
    assert befores == {VersionStatus.INGESTING}


def test_a_move_that_is_not_in_the_table_is_a_bug_that_names_both_ends() -> None:
    with pytest.raises(IllegalMove, match="VersionStatus: DELETED may not become READY"):
        move(VERSION_MOVES, VersionStatus.DELETED, VersionStatus.READY)


def test_hints_and_terminal_events_are_all_there_are() -> None:
    assert set(EventType) == HINTS | TERMINAL_EVENTS
    assert not HINTS & TERMINAL_EVENTS


def test_a_failure_that_people_see_tells_them_something() -> None:
    for reason, meaning in FAILURES.items():
        assert meaning.text.endswith("."), reason
        assert reason.value not in meaning.text
