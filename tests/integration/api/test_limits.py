"""Back pressure: a tenant who asks for too much waits, is told which limit it met, and keeps nobody else waiting."""

import asyncio
from dataclasses import dataclass

import httpx
import pytest

from services.api.limits.queue import QueueFull, QueueLimit
from services.api.limits.settings import LimitSettings
from shared.contracts.enums import OperationStatus
from shared.contracts.routes import DOCUMENT_DELETE, DOCUMENT_UPLOAD
from shared.database.database import Database
from shared.database.operations import insert_operations, save_operations
from tests.integration.api.harness import FOREIGNER, Gateway, checked_error, space_request
from tests.integration.database.samples import TENANT, an_operation, store_served, together

TIGHT = LimitSettings(requests_per_second=2, burst=3, queued=0)
TEN = LimitSettings(requests_per_second=0, queued=10)

a_tight_rate = pytest.mark.parametrize("limits", [TIGHT], ids=["rate"])
ten_at_once = pytest.mark.parametrize("limits", [TEN], ids=["queue"])


def limit_of(answer: httpx.Response) -> str:
    """The name of the limit in a refusal for the time being."""
    error = checked_error(answer, 429, "RATE_LIMITED")
    assert error["retryable"] is True
    (fault,) = error["fieldErrors"]
    assert fault["reason"] == "LIMIT_REACHED"
    return str(fault["field"])


def refusals(gateway: Gateway, limit: str) -> float | None:
    """How many were counted."""
    return gateway.parts.metrics.registry.get_sample_value("knowgate_api_limits_total", {"limit": limit})


@dataclass(frozen=True, slots=True)
class Shelf:
    """A space and a file to make documents of."""

    gateway: Gateway
    space_id: str
    file_id: str

    async def post(self, *names: str) -> list[httpx.Response]:
        """Documents, all posted at once; the name is the key too."""
        path = f"/spaces/{self.space_id}/documents"
        bodies = [{"fileResourceId": self.file_id, "documentName": name} for name in names]
        return list(await asyncio.gather(*(self.gateway.post(path, body, key=body["documentName"]) for body in bodies)))


async def a_shelf(gateway: Gateway) -> Shelf:
    """A space that is ACTIVE, and a file."""
    space_id = await gateway.make_space()
    file = await gateway.upload("a.txt", b"text of many")
    return Shelf(gateway, space_id, file.json()["data"]["fileResourceId"])


TEN_NAMES = tuple(f"D{number}" for number in range(10))


@a_tight_rate
async def test_a_tenant_that_asks_too_often_waits_and_others_do_not(gateway: Gateway) -> None:
    for _ in range(3):
        assert (await gateway.get("/spaces")).status_code == 200

    refused = await gateway.get("/spaces")

    assert limit_of(refused) == "tenant_rate"
    assert refused.headers["retry-after"] == "1"
    assert (await gateway.get("/spaces", FOREIGNER)).status_code == 200
    assert refusals(gateway, "tenant_rate") == 1
    gateway.seconds[0] += 0.5
    assert (await gateway.get("/spaces")).status_code == 200


@a_tight_rate
async def test_every_route_takes_from_the_same_bucket_whatever_it_would_have_answered(gateway: Gateway) -> None:
    assert (await gateway.get("/documents/doc_0")).status_code == 404
    assert (await gateway.upload("a.txt", b"text")).status_code == 201
    assert (await gateway.post("/spaces", {})).status_code == 422

    assert limit_of(await gateway.post("/spaces", space_request())) == "tenant_rate"
    assert limit_of(await gateway.upload("b.txt", b"text")) == "tenant_rate"
    assert limit_of(await gateway.get("/operations/op_0")) == "tenant_rate"


@a_tight_rate
async def test_nobody_uses_up_what_is_a_tenants_without_being_known(gateway: Gateway) -> None:
    for _ in range(9):
        answer = await gateway.http.get(
            "/internal/v1/knowledge/spaces", headers=gateway.headers(authorization="Bearer x")
        )
        assert answer.status_code == 401

    assert (await gateway.get("/spaces")).status_code == 200


@ten_at_once
async def test_of_forty_posts_at_once_exactly_as_many_are_accepted_as_there_is_room(either: Gateway) -> None:
    shelf = await a_shelf(either)

    answers = await shelf.post(*(f"D{number}" for number in range(40)))

    refused = [answer for answer in answers if answer.status_code != 202]
    assert len(refused) == 30
    assert {limit_of(answer) for answer in refused} == {"tenant_queue"}
    assert {answer.headers["retry-after"] for answer in refused} == {"5"}
    assert (await either.get(f"/spaces/{shelf.space_id}/documents")).json()["meta"]["pagination"]["totalItems"] == 10
    assert refusals(either, "tenant_queue") == 30


@ten_at_once
async def test_a_full_queue_repeats_answers_leaves_keys_free_and_is_the_tenants_own(either: Gateway) -> None:
    shelf = await a_shelf(either)
    first = await shelf.post(*TEN_NAMES)
    assert {answer.status_code for answer in first} == {202}

    (refused,) = await shelf.post("late")
    again = await shelf.post(*TEN_NAMES)

    assert limit_of(refused) == "tenant_queue"
    assert [answer.json()["data"] for answer in again] == [answer.json()["data"] for answer in first]
    assert limit_of(await either.post("/spaces", space_request("other"))) == "tenant_queue"
    assert (await either.post("/spaces", space_request("theirs"), FOREIGNER)).status_code == 201
    await either.work()
    (accepted,) = await shelf.post("late")
    assert accepted.status_code == 202
    assert "x-idempotent-replay" not in accepted.headers


@ten_at_once
async def test_what_makes_room_is_never_refused(either: Gateway) -> None:
    shelf = await a_shelf(either)
    served = await either.make_document(shelf.space_id)
    waiting = await shelf.post(*TEN_NAMES)
    operation_id = waiting[0].json()["data"]["operationId"]

    deleted = await either.post(f"/documents/{served}:delete", {"expectedVersion": 1, "reason": "old"})
    assert deleted.status_code == 202, deleted.text
    assert limit_of((await shelf.post("late"))[0]) == "tenant_queue"
    cancelled = await either.post(f"/operations/{operation_id}:cancel", {"reason": "no longer wanted"})
    assert cancelled.status_code == 200, cancelled.text


LOCKED = {"expectedVersion": 1}
BEGINNINGS: dict[str, object] = {
    "/spaces": space_request(),
    "/spaces/spc_1/documents": {"fileResourceId": "frs_1", "documentName": "A"},
    "/documents/doc_1:replace": {"fileResourceId": "frs_1", **LOCKED},
    "/documents/doc_1:reindex": LOCKED,
    "/documents/doc_1:delete": {"reason": "old", **LOCKED},
    "/spaces/spc_1:delete": {"reason": "old", **LOCKED},
    "/operations/op_1:retry": {"reason": "again"},
}
"""What begins work."""


@pytest.mark.parametrize("path", BEGINNINGS)
async def test_nothing_that_begins_work_is_accepted_while_the_broker_is_away_for_long(
    gateway: Gateway, path: str
) -> None:
    gateway.broker.is_there = False
    gateway.seconds[0] += 61

    answer = await gateway.post(path, BEGINNINGS[path])

    error = checked_error(answer, 503, "PROVIDER_UNAVAILABLE")
    assert error["retryable"] is True
    assert [(fault["field"], fault["reason"]) for fault in error["fieldErrors"]] == [("broker_down", "LIMIT_REACHED")]
    assert answer.headers["retry-after"] == "5"
    assert refusals(gateway, "broker_down") == 1


async def test_what_is_done_at_once_and_what_makes_room_need_no_broker(gateway: Gateway) -> None:
    shelf = await a_shelf(gateway)
    document_id = await gateway.make_document(shelf.space_id)
    (waiting,) = await shelf.post("waiting")
    gateway.broker.is_there = False
    gateway.seconds[0] += 61

    cancelled = await gateway.post(f"/operations/{waiting.json()['data']['operationId']}:cancel", {"reason": "no"})
    disabled = await gateway.post(f"/documents/{document_id}:disable", LOCKED)

    assert (cancelled.status_code, disabled.status_code) == (200, 200)
    assert (await gateway.get(f"/documents/{document_id}")).json()["data"]["status"] == "DISABLED"
    (again,) = await shelf.post("waiting")
    assert again.headers["x-idempotent-replay"] == "true"


def queue(database: Database, first: int, last: int) -> None:
    """Operations of the tenant that have not ended."""
    operations = [an_operation(f"op_{number}", f"doc_{number}") for number in range(first, last)]
    database.write_blocking(lambda conn: insert_operations(conn, operations))


def test_a_count_far_from_a_large_limit_is_believed_for_half_a_second(database: Database) -> None:
    now = [0.0]
    limit = QueueLimit(2000, lambda: now[0])

    def ask() -> None:
        database.write_blocking(lambda conn: limit.require(conn, TENANT, DOCUMENT_UPLOAD))

    database.write_blocking(together(store_served))
    queue(database, 0, 1000)
    ask()
    queue(database, 1000, 2001)
    now[0] = 0.5
    ask()
    now[0] = 0.6
    with pytest.raises(QueueFull):
        ask()
    database.write_blocking(lambda conn: limit.require(conn, TENANT, DOCUMENT_DELETE))

    ended = [an_operation(f"op_{number}", status=OperationStatus.CANCELLED) for number in range(100)]
    database.write_blocking(lambda conn: save_operations(conn, ended))
    with pytest.raises(QueueFull):
        ask()
    now[0] = 1.2
    ask()
