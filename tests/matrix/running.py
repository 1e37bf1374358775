"""The whole walk, and whether it has left anything out."""

from collections.abc import Iterator, Mapping, Sequence

from fastapi import FastAPI
from starlette.routing import Route as Path

from shared.contracts.route import Route
from tests.integration.api.harness import Gateway
from tests.matrix.contract_places import CONTRACT_PLACES
from tests.matrix.holding import walk_held
from tests.matrix.listing import walk_events, walk_lists
from tests.matrix.making import walk_making
from tests.matrix.own_places import OWN_PLACES
from tests.matrix.people import Role
from tests.matrix.walking import Walk
from tests.matrix.world import make_world

PUBLIC = frozenset({"/livez", "/readyz", "/metrics", "/openapi.json", "/openapi-admin.json"})
"""Paths that tell nothing a caller would have to be known for."""
BEARER = frozenset({"/downloads/{token}"})
"""Paths whose caller is told by what they hold; `holding.py` goes there."""
DEPTH = 4
"""How far inside of an endpoint its routes may be kept."""


async def walk_everything(gateway: Gateway, roles: Sequence[Role] = tuple(Role)) -> Walk:
    """Fill the gateway, walk through all of it, and look for routes that nobody has given a place."""
    walk = Walk(gateway, await make_world(gateway), roles)
    for place in (*CONTRACT_PLACES, *OWN_PLACES):
        await walk.through(place)
    await walk_lists(walk)
    await walk_events(walk)
    await walk_held(walk)
    await walk_making(walk)
    walk.leaks.extend(f"no place for {name}" for name in sorted(unplaced(gateway.app, walk.tools)))
    return walk


def unplaced(app: object, tools: set[str]) -> set[str]:
    """What the application answers and the walk did not come to: tools, and paths that no known route tells of."""
    assert isinstance(app, FastAPI)
    missing: set[str] = set()
    for path in app.routes:
        assert isinstance(path, Path)
        found = {route.tool for route in _routes_in(path.endpoint, DEPTH)}
        if found:
            missing |= found - tools
        elif path.path not in PUBLIC | BEARER:
            missing.add(path.path)
    return missing


def _routes_in(thing: object, depth: int) -> Iterator[Route]:
    """The routes of an endpoint, wherever it keeps them."""
    if isinstance(thing, Route):
        yield thing
    elif depth and isinstance(thing, Mapping):
        for part in (*thing.keys(), *thing.values()):
            yield from _routes_in(part, depth - 1)
    elif depth and isinstance(thing, tuple):
        for part in thing:
            yield from _routes_in(part, depth - 1)
    elif depth and hasattr(thing, "__dict__"):
        for part in vars(thing).values():
            yield from _routes_in(part, depth - 1)
