"""The ten invariants by name, and the judgement of a world by all of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from tests.chaos.oracle.answers import foreign_or_stale, missing
from tests.chaos.oracle.audit import gaps_in_audit
from tests.chaos.oracle.counting import too_many_retries
from tests.chaos.oracle.ending import not_ended_once
from tests.chaos.oracle.leftovers import leftovers
from tests.chaos.oracle.slots import several_candidates, several_documents, unverified_active
from tests.chaos.oracle.world import Violation, World

Check = Callable[[World], Iterable[str]]
"""What is wrong, a text for each violation."""


def changed_by_replay(world: World) -> Iterator[str]:
    """What applying every event again has changed; and that there were events."""
    yield from world.replayed
    if world.operations and not world.replayed_events:
        yield "no event was applied again: there was nothing to compare"


INVARIANTS: Final[Mapping[str, Check]] = {
    "one_terminal_state": not_ended_once,
    "one_provider_document": several_documents,
    "active_is_verified": unverified_active,
    "at_most_one_candidate": several_candidates,
    "answers_only_active": foreign_or_stale,
    "never_nothing": missing,
    "retries_bounded": too_many_retries,
    "replay_same_state": changed_by_replay,
    "audit_complete": gaps_in_audit,
    "nothing_left": leftovers,
}


def judge(world: World) -> list[Violation]:
    """Every violation of every invariant."""
    return [Violation(invariant=name, text=text) for name, check in INVARIANTS.items() for text in check(world)]
