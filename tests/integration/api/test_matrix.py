"""The authorisation walk, on both databases."""

from shared.contracts.admin import ADMIN_ROUTES
from shared.contracts.files import FILE_GET, FILE_UPLOAD
from shared.contracts.routes import ROUTES
from shared.contracts.transition_events import EVENTS_FOLLOW
from shared.contracts.uploads import UPLOAD_ROUTES
from tests.integration.api.harness import Gateway
from tests.matrix.people import Role
from tests.matrix.running import unplaced, walk_everything

ROLES = (Role.MAINTAINER, Role.GATEWAY_ADMIN)
"""`make matrix` walks in every role; these two are allowed most, so they could see most."""


async def test_nobody_sees_or_does_what_they_may_not(either: Gateway) -> None:
    walk = await walk_everything(either, ROLES)

    assert walk.leaks == []
    assert walk.tools >= {route.tool for route in ROUTES}
    assert walk.cases >= 1500


async def test_a_route_that_nobody_has_given_a_place_is_missed(gateway: Gateway) -> None:
    every = {route.tool for route in (*ROUTES, *ADMIN_ROUTES, *UPLOAD_ROUTES, FILE_UPLOAD, FILE_GET, EVENTS_FOLLOW)}

    assert unplaced(gateway.app, every) == set()
    assert unplaced(gateway.app, every - {"knowledge_space_get", "file_upload_end"}) == {
        "knowledge_space_get",
        "file_upload_end",
    }
