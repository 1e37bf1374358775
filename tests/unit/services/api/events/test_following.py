"""One caller's stream: told in order and once, checked before anything is told, kept alive, ended in time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import structlog

from services.api.events.following import MOST_LINKS, Following, Rhythm
from shared.contracts.enums import ResourceType
from shared.contracts.ids import OperationId, SubjectId, TenantId
from shared.database.transitions import Transition
from shared.domain.errors import Forbidden, StoreUnavailable, Unauthenticated
from shared.domain.identity import Caller

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALICE = Caller(tenant=TenantId("acme"), subject=SubjectId("alice"), session_id="s", service="x")
OPENING = b"retry: 2000\nid: 4\n\n"
KEEP_ALIVE = b": keep-alive\n\n"


def transition(seq: int) -> Transition:
    return Transition(
        seq=seq,
        at=NOON,
        action="operation.succeeded",
        resource_type=ResourceType.OPERATION,
        resource_id="op_1",
        operation_id=OperationId("op_1"),
        before="RUNNING",
        after="SUCCEEDED",
    )


@dataclass
class World:
    """A chain, a caller and a clock. Each time it is waited for, the next thing of `happens` happens."""

    happens: list[Callable[["World"], None]]
    head: int = 4
    now: float = 0.0
    visible: set[int] = field(default_factory=set)
    is_stopping: bool = False
    ends_with: Exception | None = None
    reads: list[tuple[int, int]] = field(default_factory=list)
    patience: list[timedelta] = field(default_factory=list)

    async def identify(self) -> Caller:
        if self.ends_with is not None:
            raise self.ends_with
        return ALICE

    async def read(self, caller: Caller, after: int, until: int) -> Sequence[Transition]:
        assert caller is ALICE
        self.reads.append((after, until))
        return [transition(seq) for seq in range(after + 1, until + 1) if seq in self.visible]

    async def beyond(self, tenant: TenantId, seq: int, within: timedelta) -> int:
        assert tenant == "acme"
        self.patience.append(within)
        self.happens.pop(0)(self) if self.happens else self.stop()
        return self.head

    def stop(self) -> None:
        self.is_stopping = True

    async def pieces(self, after: int = 4) -> list[bytes]:
        """The whole stream, which ends when nothing happens any more."""
        following = Following(
            identify=self.identify, read=self.read, heads=self, rhythm=Rhythm(), monotonic=lambda: self.now
        )
        return [piece async for piece in following.pieces(after, self.head)]


def grows(*seqs: int, to: int) -> Callable[[World], None]:
    def happen(world: World) -> None:
        world.visible |= set(seqs)
        world.head = to

    return happen


def passes(seconds: float, to: int | None = None) -> Callable[[World], None]:
    def happen(world: World) -> None:
        world.now += seconds
        world.head = to or world.head

    return happen


def ends(error: Exception) -> Callable[[World], None]:
    def happen(world: World) -> None:
        world.ends_with = error

    return happen


def ids(pieces: list[bytes]) -> list[int]:
    return [int(piece.split(b"\n")[0].removeprefix(b"id: ")) for piece in pieces if piece.startswith(b"id: ")]


async def test_an_event_has_its_place_its_name_and_a_line_of_json() -> None:
    pieces = await World([grows(5, to=5)]).pieces()

    assert pieces == [
        OPENING,
        b"id: 5\nevent: operation.succeeded\n"
        b'data: {"seq":5,"at":"2026-03-01T12:00:00.000Z","action":"operation.succeeded","resourceType":"OPERATION",'
        b'"resourceId":"op_1","operationId":"op_1","before":"RUNNING","after":"SUCCEEDED"}\n\n',
    ]


async def test_what_happened_before_the_caller_came_is_told_first_and_nothing_twice() -> None:
    world = World([grows(8, to=8), grows(9, to=11)], head=6, visible={3, 4, 5, 6})

    assert ids(await world.pieces(after=3)) == [4, 5, 6, 8, 9]
    assert world.reads == [(3, 6), (6, 8), (8, 11)]


async def test_a_long_past_is_read_in_pieces() -> None:
    world = World([], head=4 + 2 * MOST_LINKS + 1, visible={4 + MOST_LINKS, 5 + 2 * MOST_LINKS})

    assert ids(await world.pieces()) == [504, 1005]
    assert world.reads == [(4, 504), (504, 1004), (1004, 1005)]


async def test_a_stream_in_which_nothing_is_told_shows_every_fifteen_seconds_that_it_lives() -> None:
    world = World([passes(5), passes(5), passes(5), passes(14), passes(1)])

    assert await world.pieces() == [OPENING, KEEP_ALIVE, KEEP_ALIVE]
    assert [wait.total_seconds() for wait in world.patience] == [5, 5, 5, 5, 1, 5]


async def test_what_the_caller_may_not_see_does_not_stand_in_for_that() -> None:
    world = World([passes(6, to=5), passes(6, to=6), passes(6, to=7)])

    assert await world.pieces() == [OPENING, KEEP_ALIVE]


async def test_an_event_is_a_sign_of_life() -> None:
    world = World([passes(14), grows(5, to=5), passes(2)])

    assert KEEP_ALIVE not in await world.pieces()


async def test_nothing_more_is_told_to_a_caller_who_is_no_longer_who_they_were() -> None:
    def ends_while_it_grows(world: World) -> None:
        grows(5, to=5)(world)
        ends(Unauthenticated())(world)

    world = World([ends_while_it_grows])

    assert await world.pieces() == [OPENING]
    assert world.reads == []


async def test_a_stream_ends_with_the_roles_that_allowed_it() -> None:
    assert await World([ends(Forbidden())]).pieces() == [OPENING]


async def test_a_stream_whose_database_is_away_ends_and_says_so() -> None:
    with structlog.testing.capture_logs() as logs:
        assert await World([ends(StoreUnavailable())]).pieces() == [OPENING]

    assert [log["event"] for log in logs] == ["api.events.broken_off"]


async def test_a_stop_ends_a_stream() -> None:
    world = World([lambda world: world.stop(), grows(5, to=5)])

    assert await world.pieces() == [OPENING]
