"""Commands whose message is gone: published again, answered in the worker's stead, or waited for."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from sqlalchemy import Connection

from shared.contracts.catalogue import Stream
from shared.contracts.enums import LetterKind, OperationStatus
from shared.contracts.ids import LetterId, OperationId
from shared.database.database import Database
from shared.database.dead_letters import DeadLetter, insert_dead_letters
from shared.database.operations import insert_operations
from shared.database.outbox import OutboxCommand, close_commands, find_commands, insert_commands
from shared.database.positions import Position
from shared.messaging.stream_state import ConsumerProgress, StoredMessage, StreamLook
from shared.outbox.recovery import Recovery
from tests.integration.database.samples import NOW, a_command, an_operation

pytestmark = pytest.mark.anyio

FIRST = "2026-01-01T00:00:00+00:00"


@dataclass
class Broker:
    """Two streams: what the commands stream holds, and how far the events stream goes."""

    created: str = FIRST
    holds: dict[int, str] = field(default_factory=dict)
    last_event: int = 0
    consumer: ConsumerProgress | None = None

    async def look(self, stream: str) -> StreamLook:
        last = self.last_event if stream == Stream.EVENTS else max(self.holds, default=0)
        return StreamLook(name=stream, created=self.created, first_sequence=1, last_sequence=last, messages=last)

    async def message_at(self, stream: str, sequence: int) -> StoredMessage | None:
        assert stream == Stream.COMMANDS
        if sequence not in self.holds:
            return None
        return StoredMessage(sequence=sequence, subject="", headers={}, body=b"", message_id=self.holds[sequence])

    async def progress(self, stream: str, consumer: str) -> ConsumerProgress | None:
        assert (stream, consumer) == (Stream.COMMANDS, "knowgate-upload")
        return self.consumer

    async def delete(self, stream: str, sequence: int) -> bool:
        assert stream == Stream.COMMANDS
        return self.holds.pop(sequence, None) is not None


@dataclass
class Scene:
    """A recovery, its broker, and how far the projector has come."""

    database: Database
    broker: Broker = field(default_factory=Broker)
    position: int = 0
    reads: str = FIRST
    """Which events stream the projector reads."""
    interrupted: list[str] = field(default_factory=list)
    poison: str = ""

    def __post_init__(self) -> None:
        self.recovery = Recovery(
            database=self.database,
            streams=self.broker,
            clock=lambda: NOW,
            guard=lambda _: None,
            position=lambda: Position(stream_created=self.reads, sequence=self.position, message_id=None),
            interrupt=self.interrupt,
        )

    def interrupt(self, conn: Connection, rows: Sequence[OutboxCommand]) -> None:
        if any(row.owner_id == self.poison for row in rows):
            raise LookupError("poison")
        close_commands(conn, [row.command_id for row in rows])
        self.interrupted += [row.command_id for row in rows]

    async def put(self, *commands: OutboxCommand) -> None:
        await self.database.write(lambda conn: insert_commands(conn, commands))

    async def bury(self, owner: str) -> None:
        """An event of it could not be applied."""
        letter = DeadLetter(
            id=LetterId("ltr_1"),
            tenant_id=None,
            kind=LetterKind.EVENT,
            owner_id=OperationId(owner),
            subject="s",
            body=b"",
            error="no",
            created_at=NOW,
        )
        await self.database.write(lambda conn: insert_dead_letters(conn, [letter]))

    async def left(self, owner: str) -> list[OutboxCommand]:
        return await self.database.read(lambda conn: find_commands(conn, [owner]))


def out(owner: str, sequence: int, publication: int = 1) -> OutboxCommand:
    """A command that is in the stream, as far as the database knows."""
    return a_command(owner, published_at=NOW, sequence=sequence, stream_created=FIRST, publication=publication)


@pytest.fixture
def scene(database: Database) -> Scene:
    return Scene(database)


async def test_a_command_is_lost_only_when_every_answer_that_may_come_has_been_applied(scene: Scene) -> None:
    await scene.put(out("op_1", 5))
    scene.broker.last_event, scene.position = 40, 39
    assert [await scene.recovery.round(), await scene.recovery.round()] == [0, 0]
    scene.position = 40
    assert await scene.recovery.round() == 1
    assert [row.publication for row in await scene.left("op_1")] == [2]


async def test_a_projector_that_has_not_noticed_another_events_stream_has_applied_nothing_of_it(scene: Scene) -> None:
    await scene.put(out("op_1", 5))
    scene.broker.created, scene.broker.last_event, scene.position = "second", 3, 214
    assert [await scene.recovery.round(), await scene.recovery.round()] == [0, 0]
    scene.reads, scene.position = "second", 3
    assert await scene.recovery.round() == 1


async def test_a_command_whose_message_is_there_is_left_alone(scene: Scene) -> None:
    await scene.put(out("op_1", 5))
    scene.broker.holds = {5: "op_1.upload.1.1.1"}
    assert [await scene.recovery.round(), await scene.recovery.round()] == [0, 0]
    assert await scene.left("op_1") == [out("op_1", 5)]


async def test_another_message_at_its_place_is_not_taken_for_its_own(scene: Scene) -> None:
    """A power cut rolled the stream back, and the sequence was given to somebody else."""
    await scene.put(out("op_1", 5))
    scene.broker.holds = {5: "op_2.upload.1.1.1"}
    assert [await scene.recovery.round(), await scene.recovery.round()] == [0, 1]


async def test_a_note_of_an_events_stream_that_is_no_more_is_made_anew(scene: Scene) -> None:
    await scene.put(out("op_1", 5))
    scene.broker.last_event = scene.position = 900
    assert await scene.recovery.round() == 0
    scene.broker.last_event = scene.position = 3
    assert [await scene.recovery.round(), await scene.recovery.round()] == [0, 1]


async def test_a_command_that_cannot_be_recovered_does_not_hold_up_the_others(scene: Scene) -> None:
    scene.poison = "op_1"
    await scene.put(out("op_1", 5, publication=3), out("op_2", 6), out("op_3", 7, publication=3))
    assert await scene.recovery.round() == 0
    assert await scene.recovery.round() == 2
    assert [row.publication for row in await scene.left("op_1")] == [3]
    assert [row.publication for row in await scene.left("op_2")] == [2]
    assert await scene.left("op_3") == []


async def test_a_command_with_a_dead_letter_is_neither_published_again_nor_counted(scene: Scene) -> None:
    await scene.put(out("op_1", 5))
    await scene.bury("op_1")
    assert [await scene.recovery.round(), await scene.recovery.round()] == [0, 0]
    assert [row.publication for row in await scene.left("op_1")] == [1]


async def test_nothing_of_an_operation_that_has_ended_is_published_again(scene: Scene) -> None:
    ended = an_operation("op_1", status=OperationStatus.CANCELLED)
    runs = an_operation("op_2", "doc_2", status=OperationStatus.RUNNING)
    await scene.database.write(lambda conn: insert_operations(conn, [ended, runs]))
    await scene.put(out("op_1", 5), out("op_2", 6))
    assert [await scene.recovery.round(), await scene.recovery.round()] == [0, 2]
    assert await scene.left("op_1") == []
    assert [row.publication for row in await scene.left("op_2")] == [2]


def consumer(*, delivered: int, settled: int = 0, in_hand: int = 0) -> ConsumerProgress:
    return ConsumerProgress(delivered=delivered, settled=settled, in_hand=in_hand)


STRANDED = [consumer(delivered=5), consumer(delivered=9, settled=5, in_hand=2)]
NOT_STRANDED = [
    consumer(delivered=4),
    consumer(delivered=5, in_hand=1),
    consumer(delivered=9, settled=4, in_hand=1),
    None,
]


@pytest.mark.parametrize("progress", STRANDED)
async def test_a_message_that_its_consumer_has_done_with_is_deleted_and_its_command_answered(
    scene: Scene, progress: ConsumerProgress
) -> None:
    """It was delivered as often as it may be, and what the broker said of it was lost."""
    await scene.put(out("op_1", 5))
    scene.broker.holds, scene.broker.consumer = {5: "op_1.upload.1.1.1"}, progress
    scene.broker.last_event, scene.position = 7, 6
    assert [await scene.recovery.round(), await scene.recovery.round()] == [0, 0]
    assert scene.broker.holds == {5: "op_1.upload.1.1.1"}
    scene.position = 7
    assert await scene.recovery.round() == 1
    assert scene.broker.holds == {}
    assert await scene.left("op_1") == []
    assert scene.interrupted == ["op_1.upload.1.1"]


@pytest.mark.parametrize("progress", NOT_STRANDED)
async def test_a_message_that_may_yet_be_delivered_is_left_alone(
    scene: Scene, progress: ConsumerProgress | None
) -> None:
    await scene.put(out("op_1", 5))
    scene.broker.holds, scene.broker.consumer = {5: "op_1.upload.1.1.1"}, progress
    assert [await scene.recovery.round(), await scene.recovery.round()] == [0, 0]
    assert scene.broker.holds == {5: "op_1.upload.1.1.1"}
    assert await scene.left("op_1") == [out("op_1", 5)]


async def test_a_stranded_message_of_a_stuck_operation_goes_and_its_command_waits_for_the_operator(
    scene: Scene,
) -> None:
    await scene.put(out("op_1", 5))
    await scene.bury("op_1")
    scene.broker.holds, scene.broker.consumer = {5: "op_1.upload.1.1.1"}, STRANDED[0]
    assert [await scene.recovery.round(), await scene.recovery.round()] == [0, 0]
    assert scene.broker.holds == {}
    assert [row.publication for row in await scene.left("op_1")] == [1]
    await scene.database.write(lambda conn: conn.exec_driver_sql("UPDATE dead_letter SET status = 'DISCARDED'"))
    assert await scene.recovery.round() == 1
    assert [row.publication for row in await scene.left("op_1")] == [2]
