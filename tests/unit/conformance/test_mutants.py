"""Wrong bodies are wrong by the contract, and there is one for every field and bound."""

import pytest

from tests.conformance.contract import ROUTES
from tests.conformance.scenarios.mutants import mutants
from tests.conformance.scenarios.requests import BODIES
from tests.conformance.schemas import faults


def test_every_route_with_a_body_has_one_that_its_schema_allows() -> None:
    with_body = {route.tool: route.request for route in ROUTES.values() if route.request is not None}

    assert set(BODIES) == set(with_body)
    assert [tool for tool, schema in with_body.items() if faults(schema, BODIES[tool])] == []


@pytest.mark.parametrize("tool", BODIES)
def test_what_was_changed_is_refused_by_the_schema(tool: str) -> None:
    schema = str(ROUTES[tool].request)
    made = dict(mutants(schema, BODIES[tool]))

    assert made
    assert [name for name, body in made.items() if not faults(schema, body)] == []


def test_every_bound_of_a_body_is_overstepped() -> None:
    made = dict(mutants("SpaceUpdateRequest", {"expectedVersion": 1, "name": "name"}))

    assert {
        "$.surplus is there": {"expectedVersion": 1, "name": "name", "surplus": 1},
        "$.expectedVersion is missing": {"name": "name"},
        "$.expectedVersion is too small": {"expectedVersion": 0, "name": "name"},
        "$.expectedVersion is a boolean": {"expectedVersion": True, "name": "name"},
        "$.name is empty": {"expectedVersion": 1, "name": ""},
        "$.name is null": {"expectedVersion": 1, "name": None},
        "$.name is too long": {"expectedVersion": 1, "name": "x" * 129},
    }.items() <= made.items()
