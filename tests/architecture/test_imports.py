"""What the lowest rooms may import, as lists of what is allowed; import-linter (`make imports`) holds the rest."""

import sys

import grimp
import pytest

INPUT_OUTPUT_CLOCK_AND_CHANCE = frozenset(
    {"asyncio", "io", "logging", "multiprocessing", "os", "pathlib", "random", "secrets", "socket", "sqlite3", "ssl"}
    | {"subprocess", "tempfile", "threading", "time", "uuid"}
)


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("shared", include_external_packages=True, cache_dir=None)


def imported_from_outside(graph: grimp.ImportGraph, room: str) -> set[str]:
    modules = {room} | graph.find_descendants(room)
    imported = {found for module in modules for found in graph.find_modules_directly_imported_by(module)}
    return {name for name in imported if not name.startswith("shared.")}


def test_the_words_need_pydantic_and_the_standard_library_alone(graph: grimp.ImportGraph) -> None:
    outside = imported_from_outside(graph, "shared.contracts") - sys.stdlib_module_names

    assert outside <= {"pydantic", "pydantic_core"}


def test_the_rules_need_nothing_but_the_arithmetic_of_waits(graph: grimp.ImportGraph) -> None:
    outside = imported_from_outside(graph, "shared.domain") - sys.stdlib_module_names

    assert outside <= {"tenacity"}


def test_the_rules_touch_no_clock_no_chance_and_nothing_outside(graph: grimp.ImportGraph) -> None:
    assert imported_from_outside(graph, "shared.domain") & INPUT_OUTPUT_CLOCK_AND_CHANCE == set()
