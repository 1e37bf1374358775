"""What is swept away when its time is over, and not before."""

from datetime import timedelta

import pytest

from services.projector.housekeeping import Housekeeping
from shared.auth.assertions import LEEWAY, LONGEST_LIFE
from shared.contracts.enums import Action, RevocationKind
from shared.contracts.ids import SubjectId
from shared.database.database import Database
from shared.database.revocations import list_revocations
from shared.domain.identity import Caller
from shared.lifecycle.request import Request
from shared.lifecycle.revoke_assertions import revoke_assertions
from shared.lifecycle.surroundings import Surroundings
from tests.integration.database.samples import NOW, TENANT

REQUEST = Request(
    caller=Caller(tenant=TENANT, subject=SubjectId("root"), roles=("admin",), session_id="s", service="t"),
    roles={"admin": frozenset(Action)},
    traceparent="00-" + "1" * 32 + "-" + "2" * 16 + "-01",
    request_id="request-1",
    tool_call_id="call-1",
)
LAST_ACCEPTED = LEEWAY + LONGEST_LIFE + LEEWAY
"""So long after a revocation the newest assertion that it refuses may still be presented."""


@pytest.mark.parametrize(("later", "left"), [(LAST_ACCEPTED - timedelta(microseconds=1), 1), (LAST_ACCEPTED, 0)])
async def test_a_revocation_is_forgotten_when_all_that_it_could_refuse_has_expired(
    database: Database, later: timedelta, left: int
) -> None:
    await database.write(
        lambda conn: revoke_assertions(conn, RevocationKind.SUBJECT, "alice", REQUEST, Surroundings(clock=lambda: NOW))
    )
    chores = Housekeeping(
        database=database,
        around=Surroundings(clock=lambda: NOW + later),
        guard=lambda conn: None,
        inbox_kept=timedelta(days=1),
        reconciliations_kept=timedelta(days=30),
    )

    await chores.sweep()

    _, total = await database.read(lambda conn: list_revocations(conn, TENANT, page=1, page_size=1))
    assert total == left
