"""Lives of documents: requests and reports in any order, lost, late and repeated, keep every rule and end legally."""

import asyncio
import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.database.database import open_database
from tests.integration.conftest import sqlite_settings
from tests.integration.lifecycle.bench import Bench
from tests.property.provider import ENDINGS
from tests.property.world import MOST_NUMBER, World

ASKED = {"upload": 4, "replace": 8, "reindex": 4, "switch": 3, "cancel": 8, "retry": 12, "fail": 4}
"""What callers ask for, and how often."""
ENDED = {"delete": 2, "delete_space": 1}
"""Rarer, for a life that is over early shows little."""
HAPPENS = {"publish": 6, "wait": 6, "wear_out": 8, "repeat": 4, "tell_again": 4}
REPORTED = {"answer": 2, "late": 1}
"""Each for every ending."""

Move = tuple[tuple[str, str], int]

kinds = [(move, "") for move, weight in {**ASKED, **ENDED, **HAPPENS}.items() for _ in range(weight)]
kinds += [(move, ending) for move, weight in REPORTED.items() for ending in ENDINGS for _ in range(weight)]
kinds += [("answer", "well")] * 20
lives = st.lists(st.tuples(st.sampled_from(kinds), st.integers(0, MOST_NUMBER)), min_size=30, max_size=60)


async def live(template: Path, moves: list[Move]) -> None:
    """One life, to its very end."""
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(sqlite_settings(Path(shutil.copy(template, Path(folder) / "knowgate.db"))))
        try:
            world = World(Bench(database))
            await world.begin()
            for (move, ending), number in moves:
                if move in ASKED or move in ENDED:
                    await world.ask(move, number)
                elif move in REPORTED:
                    await getattr(world, move)(number, ending)
                else:
                    await getattr(world, move)(number)
                await world.look()
                await world.check()
            await world.finish()
            await world.check_end()
            await world.check_audit()
            await world.check_replay()
        finally:
            await database.close()


@given(moves=lives)
@settings(max_examples=25, deadline=None)
def test_whatever_is_asked_and_reported_in_whatever_order_every_rule_holds_to_the_end(
    template: Path, moves: list[Move]
) -> None:
    asyncio.run(live(template, moves))
