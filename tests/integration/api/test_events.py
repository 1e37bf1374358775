"""The stream of transitions: told live, resumed without gap or repeat, only what the caller may see, while they may."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from services.api.app import build_app
from shared.contracts.enums import Action
from shared.contracts.envelope import ErrorEnvelope
from shared.contracts.transition_events import TransitionEvent
from shared.database.settings import DatabaseSettings
from shared.database.sql import run
from shared.lifecycle.seal_audit import seal_audit
from tests.integration.api.harness import ALICE, BOB, FOREIGNER, Gateway, User, checked_error, running_gateway
from tests.integration.api.streaming import Asked, asked
from tests.support.eventually import until

EVENTS = "/internal/v1/events"
VIEWER = User(subject="alice", roles=("space-viewer",))
NOBODY = User(subject="alice", roles=("none",))

OF_A_SPACE = ["operation.pending", "operation.succeeded", "space.active", "space.creating"]
"""The events of a space that is made, by name."""


@asynccontextmanager
async def following(gateway: Gateway, user: User = ALICE, path: str = EVENTS, **headers: str) -> AsyncIterator[Asked]:
    """A stream whose head has been read."""
    async with asked(gateway.app, path, gateway.headers(user, **headers)) as stream:
        await stream.begin()
        yield stream


async def seal(gateway: Gateway) -> None:
    """What the projector's sealer would do soon."""
    await gateway.parts.database.write(lambda conn: seal_audit(conn, gateway.clock(), limit=500))


async def last_place(gateway: Gateway) -> int:
    found = await gateway.parts.database.read(lambda conn: run(conn, "SELECT max(seq) FROM audit_chain").scalar_one())
    return int(found)


async def names(stream: Asked) -> list[str]:
    """What the next events are called, of as many as a space has when it is made."""
    return sorted([(await stream.event()).fields["event"] for _ in OF_A_SPACE])


async def test_a_stream_is_plain_server_sent_events(gateway: Gateway) -> None:
    async with following(gateway) as stream:
        assert stream.status == 200
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert stream.headers["cache-control"] == "no-store"
        assert "content-length" not in stream.headers
        opening = await stream.block()

    assert opening is not None
    assert opening.fields == {"retry": "2000", "id": "0"}


async def test_what_happens_is_told_live_as_soon_as_it_is_sealed(gateway: Gateway) -> None:
    async with following(gateway) as stream:
        await gateway.make_space()
        await seal(gateway)
        events = [await stream.event() for _ in OF_A_SPACE]

    told = [TransitionEvent.model_validate_json(event.fields["data"]) for event in events]
    assert sorted(event.fields["event"] for event in events) == OF_A_SPACE
    assert [event.id for event in events] == [one.seq for one in told]
    assert [one.seq for one in told] == sorted({one.seq for one in told})
    operation = next(event.told for event in events if event.fields["event"] == "operation.succeeded")
    assert operation == {
        "seq": operation["seq"],
        "at": "2031-05-06T07:08:09.000Z",
        "action": "operation.succeeded",
        "resourceType": "OPERATION",
        "resourceId": operation["operationId"],
        "operationId": operation["operationId"],
        "before": "PENDING",
        "after": "SUCCEEDED",
    }


async def test_without_a_place_a_stream_begins_with_what_happens_next(gateway: Gateway) -> None:
    await gateway.make_space("one")
    await seal(gateway)
    async with following(gateway) as stream:
        opening = await stream.block()
        assert opening is not None
        assert opening.id == await last_place(gateway)

        space_id = await gateway.make_space("two")
        await seal(gateway)

        told = [(await stream.event()).told for _ in OF_A_SPACE]
    assert {one["resourceId"] for one in told if one["resourceType"] == "SPACE"} == {space_id}


@pytest.mark.parametrize("by", ["header", "query"])
async def test_a_stream_goes_on_behind_the_event_that_was_had_last(gateway: Gateway, by: str) -> None:
    async with following(gateway) as stream:
        await gateway.make_space()
        await seal(gateway)
        had = [(await stream.event()).id for _ in range(2)]

    path = EVENTS if by == "header" else f"{EVENTS}?after={had[-1]}"
    headers = {"last_event_id": str(had[-1])} if by == "header" else {}
    async with following(gateway, ALICE, path, **headers) as stream:
        rest = [(await stream.event()).id for _ in range(2)]
    async with following(gateway, last_event_id="0") as stream:
        assert [(await stream.event()).id for _ in OF_A_SPACE] == had + rest


async def test_the_event_that_was_had_last_wins_over_the_address(gateway: Gateway) -> None:
    """A browser comes back with both."""
    await gateway.make_space()
    await seal(gateway)

    async with following(gateway, ALICE, f"{EVENTS}?after=0", last_event_id=str(await last_place(gateway))) as stream:
        opening = await stream.block()

    assert opening is not None
    assert opening.id == await last_place(gateway)


@pytest.mark.parametrize("given", ["x", "-1", "1.5", "", "01", "99999999999999999999"])
async def test_a_place_that_is_no_number_is_refused(gateway: Gateway, given: str) -> None:
    answer = await gateway.http.get(EVENTS, headers=gateway.headers(last_event_id=given))
    error = checked_error(answer, 422, "KNOWLEDGE_INVALID_INPUT")
    assert [fault["field"] for fault in error["fieldErrors"]] == ["Last-Event-ID"]

    answer = await gateway.http.get(EVENTS, headers=gateway.headers(), params={"after": given})
    error = checked_error(answer, 422, "KNOWLEDGE_INVALID_INPUT")
    assert [fault["field"] for fault in error["fieldErrors"]] == ["$.after"]


async def test_a_place_behind_the_end_of_the_chain_is_refused(gateway: Gateway) -> None:
    await gateway.make_space()
    await seal(gateway)
    beyond = str(await last_place(gateway) + 1)

    answer = await gateway.http.get(EVENTS, headers=gateway.headers(last_event_id=beyond))
    error = checked_error(answer, 422, "KNOWLEDGE_INVALID_INPUT")
    assert [(fault["field"], fault["reason"]) for fault in error["fieldErrors"]] == [("Last-Event-ID", "OUT_OF_RANGE")]

    answer = await gateway.http.get(EVENTS, headers=gateway.headers(), params={"after": beyond})
    error = checked_error(answer, 422, "KNOWLEDGE_INVALID_INPUT")
    assert [(fault["field"], fault["reason"]) for fault in error["fieldErrors"]] == [("$.after", "OUT_OF_RANGE")]


async def test_whoever_may_see_nothing_of_it_is_told_nothing_of_it(gateway: Gateway) -> None:
    async with following(gateway, BOB) as of_bob, following(gateway, FOREIGNER) as of_foreigner:
        await gateway.make_space("hers")
        await gateway.make_space("his", BOB)
        await gateway.make_space("theirs", FOREIGNER)
        await seal(gateway)

        for stream, user in ((of_bob, BOB), (of_foreigner, FOREIGNER)):
            told = [(await stream.event()).told for _ in OF_A_SPACE]
            about = {one["resourceId"] for one in told if one["resourceType"] == "SPACE"}
            listed = (await gateway.get("/spaces", user)).json()["data"]["items"]
            assert about == {space["spaceId"] for space in listed}


async def test_a_role_that_sees_spaces_alone_is_told_of_spaces_alone(gateway: Gateway) -> None:
    roles = {**gateway.parts.roles, "space-viewer": frozenset({Action.SPACE_VIEW})}
    app = build_app(replace(gateway.parts, roles=roles))
    await gateway.make_space()
    await seal(gateway)

    async with asked(app, f"{EVENTS}?after=0", gateway.headers(VIEWER)) as stream:
        await stream.begin()
        assert [(await stream.event()).fields["event"] for _ in range(2)] == ["space.creating", "space.active"]


async def test_a_caller_without_any_role_that_sees_is_refused(gateway: Gateway) -> None:
    checked_error(await gateway.http.get(EVENTS, headers=gateway.headers(NOBODY)), 403, "KNOWLEDGE_FORBIDDEN")


async def test_nobody_is_told_anything_without_credentials(gateway: Gateway) -> None:
    checked_error(
        await gateway.http.get(EVENTS, headers=gateway.headers(x_user_assertion=None)), 401, "KNOWLEDGE_UNAUTHENTICATED"
    )


async def test_a_grant_that_is_taken_back_ends_what_is_told_at_once(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    await seal(gateway)
    async with following(gateway) as stream:
        await gateway.parts.database.write(
            lambda conn: run(conn, "DELETE FROM access_grant WHERE space_id = :id", id=space_id).rowcount
        )
        await gateway.make_space("another")
        await seal(gateway)

        assert await names(stream) == OF_A_SPACE
    async with following(gateway, last_event_id="0") as stream:
        told = [(await stream.event()).told["resourceId"] for _ in OF_A_SPACE]
    assert space_id not in told


async def test_a_stream_ends_when_the_assertion_does(gateway: Gateway) -> None:
    async with following(gateway) as stream:
        assert await stream.block() is not None
        gateway.clock.move(timedelta(seconds=606))
        await gateway.make_space()
        await seal(gateway)

        assert await stream.block() is None


async def test_a_stop_ends_the_stream(gateway: Gateway) -> None:
    async with following(gateway) as stream:
        assert await stream.block() is not None

        gateway.parts.watches.stop()

        assert await stream.block() is None


@asynccontextmanager
async def gateway_with(
    settings: DatabaseSettings, folder: Path, most: int = 200, most_of_tenant: int = 50
) -> AsyncIterator[Gateway]:
    async with running_gateway(settings, folder, most_streams=most, most_streams_of_tenant=most_of_tenant) as running:
        yield running


async def test_no_more_streams_than_allowed_are_open_and_whoever_leaves_makes_room(
    fresh: DatabaseSettings, tmp_path: Path
) -> None:
    async with gateway_with(fresh, tmp_path, most=1) as gateway:
        async with following(gateway) as stream:
            assert open_streams(gateway) == 1

            refused = await gateway.http.get(EVENTS, headers=gateway.headers())

            assert refused.status_code == 503
            assert refused.headers["retry-after"] == "5"
            error = ErrorEnvelope.model_validate_json(refused.content).meta.error
            assert (error.code, error.retryable) == ("PROVIDER_UNAVAILABLE", True)
            assert [fault.field for fault in error.field_errors] == ["event_streams"]
            stream.hang_up()
            await until(lambda: open_streams(gateway) == 0)

        async with following(gateway) as stream:
            assert stream.status == 200
        assert open_streams(gateway) == 0


async def test_one_tenant_takes_no_more_than_its_share_of_the_streams(fresh: DatabaseSettings, tmp_path: Path) -> None:
    async with gateway_with(fresh, tmp_path, most=3, most_of_tenant=1) as gateway:
        async with following(gateway) as stream, following(gateway, FOREIGNER) as foreign:
            assert foreign.status == 200

            refused = await gateway.http.get(EVENTS, headers=gateway.headers(BOB))

            checked_error(refused, 429, "RATE_LIMITED")
            assert refused.headers["retry-after"] == "5"
            error = ErrorEnvelope.model_validate_json(refused.content).meta.error
            assert [fault.field for fault in error.field_errors] == ["tenant_event_streams"]
            stream.hang_up()
            await until(lambda: open_streams(gateway) == 1)

        async with following(gateway, BOB) as stream:
            assert stream.status == 200


async def test_without_a_share_one_tenant_may_have_every_stream(fresh: DatabaseSettings, tmp_path: Path) -> None:
    async with (
        gateway_with(fresh, tmp_path, most=2, most_of_tenant=0) as gateway,
        following(gateway),
        following(gateway) as second,
    ):
        assert second.status == 200
        checked_error(await gateway.http.get(EVENTS, headers=gateway.headers()), 503, "PROVIDER_UNAVAILABLE")


def open_streams(gateway: Gateway) -> float | None:
    return gateway.parts.metrics.registry.get_sample_value("knowgate_api_event_streams")


async def test_other_methods_are_refused(gateway: Gateway) -> None:
    checked_error(await gateway.http.post(EVENTS, headers=gateway.headers()), 405, "METHOD_NOT_ALLOWED")
