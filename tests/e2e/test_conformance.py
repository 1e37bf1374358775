"""A short form of `make conformance`: some scenarios of each kind, on a gateway whose provider answers at once."""

from typing import Final

from tests.conformance.run import ledger_of, play
from tests.conformance.scenarios import ending, listing, once, replacing, requests, revoking, spaces
from tests.conformance.stage import scripted

CHOSEN: Final = (
    *requests.BODY_SCENARIOS,
    *requests.QUERY_SCENARIOS,
    requests.needs_keys,
    requests.tells_actions_from_ids,
    spaces.creates,
    listing.patches_metadata,
    replacing.switches,
    replacing.survives_failed_reindex,
    revoking.deletes,
    once.replays,
    ending.retries_by_hand,
)


def test_every_rule_that_a_short_run_speaks_of_holds() -> None:
    lines: list[str] = []
    ledger = ledger_of(CHOSEN, lines.append)

    play(CHOSEN, scripted, ledger, lines.append)

    assert ledger.broken == []
    assert ledger.passed(scenario.rule for scenario in CHOSEN) == len(CHOSEN)
