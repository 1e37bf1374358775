"""A tenant who has queued thousands of commands keeps nobody else waiting for more than what is out already."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import pytest

from shared.contracts.enums import Step
from shared.database.database import Database
from shared.database.outbox import OutboxCommand, close_commands, insert_commands
from shared.database.outbox_queue import UNLIMITED
from shared.domain.errors import StoreUnavailable
from shared.messaging.codec import Message
from shared.messaging.publisher import Acked
from shared.outbox.dispatcher import Dispatched, Dispatcher
from shared.outbox.pace import Pace
from shared.outbox.windows import Windows
from tests.integration.database.samples import NOW, a_command, after

pytestmark = pytest.mark.anyio

WINDOW = 8
BACKLOG = 10_000
CREATED = "2026-01-01T00:00:00+00:00"


@dataclass
class Broker:
    """Acknowledges everything, unless it is away; a test reads what came since it last looked."""

    taken: int = 0
    is_away: bool = False
    fresh: list[str] = field(default_factory=list)

    async def publish_many(self, messages: Sequence[Message]) -> Sequence[Acked | StoreUnavailable]:
        if self.is_away:
            return [StoreUnavailable() for _ in messages]
        sequences = range(self.taken + 1, self.taken + 1 + len(messages))
        self.taken += len(messages)
        self.fresh += [message.message_id.rpartition(".")[0] for message in messages]
        return [Acked(stream="c", stream_created=CREATED, sequence=n, is_duplicate=False) for n in sequences]


@dataclass
class Scene:
    """A dispatcher and its broker."""

    database: Database
    most_per_tenant: int = UNLIMITED
    slots: int = 0
    """What is announced for each step; 0: a window of eight."""
    pace: Pace = field(default_factory=Pace)
    broker: Broker = field(default_factory=Broker)
    now: datetime = NOW

    async def put(self, *commands: OutboxCommand) -> None:
        await self.database.write(lambda conn: insert_commands(conn, commands))

    async def queue(self, tenant: str, count: int = BACKLOG, step: Step = Step.UPLOAD) -> None:
        """So many commands of a tenant that have been due for a minute."""
        await self.put(*(a_command(f"op_{tenant}_{n:05d}", tenant, step, due_at=after(-60)) for n in range(count)))

    async def answer(self, *command_ids: str) -> None:
        """What the projector does when a worker has answered."""
        await self.database.write(lambda conn: close_commands(conn, command_ids))

    async def round(self) -> list[str]:
        """The commands that the next round publishes."""
        await self.dispatch()
        published, self.broker.fresh = self.broker.fresh, []
        return published

    async def room(self) -> int:
        """What the next round leaves to others of the uploads' window."""
        return (await self.dispatch()).room[Step.UPLOAD]

    async def dispatch(self) -> Dispatched:
        """The next round."""
        dispatcher = Dispatcher(
            database=self.database,
            publisher=self.broker,
            windows=Windows(WINDOW),
            slots=lambda: dict.fromkeys(Step, self.slots),
            guard=lambda _: None,
            clock=lambda: self.now,
            most_per_tenant=self.most_per_tenant,
            pace=self.pace,
        )
        return await dispatcher.round()


def of(tenant: str, published: Sequence[str]) -> list[str]:
    """Those of a tenant's commands."""
    return [command_id for command_id in published if command_id.startswith(f"op_{tenant}_")]


async def test_the_one_command_of_a_tenant_is_published_in_the_next_round(database: Database) -> None:
    scene = Scene(database)
    await scene.queue("a")
    await scene.queue("b", 1)

    published = await scene.round()

    assert published[1] == "op_b_00000.upload.1.1"
    assert len(of("a", published)) == WINDOW - 1


async def test_with_the_whole_window_taken_the_next_free_place_is_the_other_tenants(database: Database) -> None:
    scene = Scene(database)
    await scene.queue("a")
    out = await scene.round()
    assert len(of("a", out)) == WINDOW
    await scene.queue("b", 2)
    assert await scene.round() == []

    await scene.answer(out[0])
    assert await scene.round() == ["op_b_00000.upload.1.1"]
    await scene.answer(out[1], out[2])
    assert await scene.round() == ["op_b_00001.upload.1.1", "op_a_00008.upload.1.1"]


async def test_what_a_sender_has_published_itself_counts_as_its_turn(database: Database) -> None:
    scene = Scene(database)
    await scene.put(*(a_command(f"op_a_x{n}", "a", published_at=NOW) for n in range(WINDOW - 1)))
    await scene.queue("a")
    await scene.queue("b", 1)

    assert await scene.round() == ["op_b_00000.upload.1.1"]


async def test_one_tenants_backlog_takes_no_place_of_another_step(database: Database) -> None:
    scene = Scene(database)
    await scene.queue("a")
    await scene.round()
    await scene.put(a_command("op_a_c", "a", Step.CANCEL), a_command("pur_b", "b", Step.PURGE))

    assert sorted(await scene.round()) == ["op_a_c.cancel.1.1", "pur_b.purge.1.1"]


async def test_no_room_is_left_to_others_while_anything_that_is_due_waits(database: Database) -> None:
    scene = Scene(database)
    await scene.queue("a", WINDOW + 1)
    await scene.put(a_command("op_b_later", "b", due_at=after(3600)))
    assert await scene.room() == 0
    assert await scene.room() == 0

    await scene.answer(*scene.broker.fresh)
    assert await scene.room() == WINDOW - 1


async def test_a_limited_tenant_leaves_the_rest_of_the_window_free(database: Database) -> None:
    scene = Scene(database, most_per_tenant=2)
    await scene.queue("a")

    out = await scene.round()
    assert len(out) == 2
    assert await scene.round() == []
    await scene.queue("b", 3)
    assert await scene.round() == ["op_b_00000.upload.1.1", "op_b_00001.upload.1.1"]
    await scene.answer(out[0])
    assert await scene.round() == ["op_a_00002.upload.1.1"]


async def test_with_a_limit_nobody_publishes_without_asking_whose_turn_it_is(database: Database) -> None:
    scene = Scene(database, most_per_tenant=2)

    assert await scene.room() == 0


async def test_a_newcomer_waits_for_one_hand_and_not_for_the_work_behind_it(database: Database) -> None:
    scene = Scene(database, slots=4)
    await scene.queue("a")

    out = await scene.round()
    assert len(of("a", out)) == 4
    assert await scene.round() == []
    await scene.queue("b", 1)
    await scene.answer(out[0])
    assert await scene.round() == ["op_b_00000.upload.1.1"]


async def test_work_that_goes_fast_is_sent_ahead(database: Database) -> None:
    scene = Scene(database, slots=4)
    scene.pace.note({Step.UPLOAD: 200}, NOW)
    await scene.queue("a")

    assert len(await scene.round()) == 2 * 4


async def test_what_an_absent_broker_did_not_take_is_neither_announced_nor_counted_as_sent(database: Database) -> None:
    scene = Scene(database, broker=Broker(is_away=True))
    await scene.put(a_command("op_a", "a", Step.CANCEL))

    missed = await scene.dispatch()

    assert (missed.published, missed.unacknowledged, missed.cancelled) == (0, 1, frozenset())
    assert scene.pace.per_second(NOW)[Step.CANCEL] == 0.0
    scene.broker.is_away = False
    sent = await scene.dispatch()
    assert (sent.published, sent.unacknowledged, sent.cancelled) == (1, 0, frozenset({"op_a"}))
    assert scene.pace.per_second(NOW)[Step.CANCEL] == 0.5
