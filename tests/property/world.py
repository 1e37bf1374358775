"""A tenant's spaces and documents on a real database, everything that may happen to them, and what must always hold."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

from shared.contracts.commands import COMMANDS, AnyCommand
from shared.contracts.documents import DocumentLockRequest
from shared.contracts.events import AnyEvent
from shared.contracts.ids import CommandId, DocumentId, OperationId, SpaceId
from shared.contracts.operations import OperationReasonRequest
from shared.contracts.spaces import SpaceDeleteRequest
from shared.domain.errors import Rejected
from shared.lifecycle.delete_space import delete_space
from shared.lifecycle.fail_operation import fail_operation
from shared.lifecycle.reindex_document import reindex_document
from shared.lifecycle.switch_document import switch_document
from tests.integration.lifecycle.bench import Bench, as_caller
from tests.property.provider import ENDINGS, Provider

T = TypeVar("T")

OPERATOR = as_caller("olga", roles=("gateway-admin",))
MOST_NUMBER = 11
"""Of the numbers that choose."""
MOST_DOCUMENTS = 3
MOST_ROUNDS = 80
CONTENTS = "wxyz"
STATES = (
    "SELECT * FROM operation ORDER BY id",
    "SELECT * FROM document ORDER BY id",
    "SELECT * FROM document_version ORDER BY id",
    "SELECT * FROM space ORDER BY id",
)


@dataclass
class World:
    """Everything there is. Each move takes a number, by which it chooses among what it could concern."""

    bench: Bench
    provider: Provider = field(default_factory=Provider)
    known: dict[str, AnyCommand] = field(default_factory=dict)
    """Every command that there ever was; the dispatcher may have published it and not have noted that yet."""
    told: list[AnyEvent] = field(default_factory=list)
    ended: dict[str, str] = field(default_factory=dict)
    """How each operation ended when it did."""
    hidden: dict[str, object] = field(default_factory=dict)
    """The documents whose delete was accepted, with what they served then."""

    async def begin(self) -> None:
        """A space that takes documents, with one in it."""
        space_id = await self.bench.active_space()
        await self.bench.upload(space_id)
        await self.look()

    async def ids(self, table: str) -> list[str]:
        """All ids of a kind, in their order."""
        return [str(key) for (key,) in await self.bench.rows(f"SELECT id FROM {table} ORDER BY id")]  # noqa: S608

    async def look(self) -> None:
        """Remember every command there is."""
        for (body,) in await self.bench.rows("SELECT body FROM outbox"):
            command = COMMANDS.validate_json(bytes(body))  # type: ignore[call-overload]
            self.known[command.command_id] = command

    async def document(self, number: int) -> tuple[DocumentId, int]:
        """One of the documents, and its lock."""
        document_id = DocumentId(_one(await self.ids("document"), number))
        return document_id, (await self.bench.document(document_id)).lock_version

    async def upload(self, number: int) -> None:
        """A caller brings a document."""
        if len(await self.ids("document")) < MOST_DOCUMENTS:
            await self.bench.upload(SpaceId(_one(await self.ids("space"), number)), _one(CONTENTS, number))

    async def replace(self, number: int) -> None:
        """A caller brings another file for a document."""
        document_id, lock = await self.document(number)
        await self.bench.replace(document_id, lock, _one(CONTENTS, number))

    async def reindex(self, number: int) -> None:
        """A caller has a document indexed again."""
        document_id, lock = await self.document(number)
        body = DocumentLockRequest(expected_version=lock)
        await self.bench.write(
            lambda conn: reindex_document(conn, document_id, body, self.bench.request(), self.bench.around)
        )

    async def switch(self, number: int) -> None:
        """A caller takes a document out of use, or back."""
        document_id, lock = await self.document(number // 2)
        body, enabled = DocumentLockRequest(expected_version=lock), bool(number % 2)
        await self.bench.write(
            lambda conn: switch_document(
                conn, document_id, body, self.bench.request(), self.bench.around, enabled=enabled
            )
        )

    async def delete(self, number: int) -> None:
        """A caller deletes a document."""
        document_id, lock = await self.document(number)
        served = (await self.bench.document(document_id)).active_version_id
        await self.bench.delete(document_id, lock)
        self.hidden[document_id] = served

    async def delete_space(self, number: int) -> None:
        """A caller deletes a space, if it is empty."""
        space_id, lock = _one(await self.bench.rows("SELECT id, lock_version FROM space ORDER BY id"), number)
        body = SpaceDeleteRequest(expected_version=int(str(lock)), reason="Not needed.")
        await self.bench.write(
            lambda conn: delete_space(conn, SpaceId(str(space_id)), body, self.bench.request(), self.bench.around)
        )

    async def cancel(self, number: int) -> None:
        """A caller cancels an operation."""
        await self.bench.cancel(await self.operation("status IN ('PENDING', 'RUNNING')", number))

    async def retry(self, number: int) -> None:
        """A caller retries an operation."""
        await self.bench.retry(await self.operation("is_retryable", number))

    async def fail(self, number: int) -> None:
        """An operator ends an operation."""
        operation_id = await self.operation("status IN ('PENDING', 'RUNNING')", number)
        body = OperationReasonRequest(reason="It hangs.")
        await self.bench.write(
            lambda conn: fail_operation(conn, operation_id, body, self.bench.request(OPERATOR), self.bench.around)
        )

    async def operation(self, promising: str, number: int) -> OperationId:
        """One of those for which the move makes sense; now and then any other."""
        found = await self.bench.rows(f"SELECT id FROM operation WHERE {promising} ORDER BY id")  # noqa: S608
        sensible = [str(key) for (key,) in found]
        return OperationId(_one(sensible if sensible and number < MOST_NUMBER else await self.ids("operation"), number))

    async def publish(self, number: int) -> None:
        """The dispatcher notes what it has published."""
        await self.bench.publish(*{CommandId.parse(command).owner for command in self.known})

    async def wait(self, number: int) -> None:
        """Time passes, and purges fall due."""
        self.bench.watch.advance(timedelta(minutes=_one((1, 6, 16), number)))
        await self.bench.issue_purges()

    async def wear_out(self, number: int) -> None:
        """What is under way fails until there are no automatic retries left."""
        text = "SELECT work_command_id FROM operation WHERE status IN ('PENDING', 'RUNNING') AND work_command_id > ''"
        for _ in range(6):
            await self.look()
            for (command_id,) in await self.bench.rows(text):
                await self.report(str(command_id), "fails")

    async def repeat(self, number: int) -> None:
        """An event comes once more."""
        if self.told:
            await self.bench.tell(_one(self.told, number))

    async def tell_again(self, number: int) -> None:
        """A second delivery of a command that was answered long ago reports what the first one did."""
        if self.told:
            await self.bench.tell(self.anew(_one(self.told, number)))

    async def late(self, number: int, ending: str) -> None:
        """A worker reports of any command that there ever was."""
        await self.report(_one(sorted(self.known), number), ending)

    async def answer(self, number: int, ending: str) -> None:
        """A worker reports of a command that is open."""
        open_ones = await self.open_ones()
        if open_ones:
            await self.report(_one(open_ones, number), ending)

    async def open_ones(self) -> list[str]:
        """The commands that no event has answered."""
        return [str(key) for (key,) in await self.bench.rows("SELECT command_id FROM outbox ORDER BY 1")]

    async def report(self, command_id: str, ending: str) -> None:
        """What a worker makes of a command, and the event that tells of it."""
        event = ENDINGS[ending](self.bench, self.provider, self.known[command_id])
        if event is not None:
            self.told.append(event)
            await self.bench.tell(event)

    def anew(self, event: AnyEvent) -> AnyEvent:
        """The same report from another delivery of its command."""
        run = f"again{next(self.bench.numbers)}"
        return event.model_copy(update={"event_id": CommandId.parse(event.command_id).event(run, 1)})

    async def ask(self, move: str, number: int) -> None:
        """One request of a caller; many are refused, and then change nothing."""
        before = await self.states()
        try:
            await getattr(self, move)(number)
        except Rejected:
            assert await self.states() == before

    async def states(self) -> list[list[tuple[object, ...]]]:
        """Everything whose state moves."""
        return [await self.bench.rows(text) for text in STATES]

    async def finish(self) -> None:
        """Workers answer everything that is left, as well as they can."""
        for _ in range(MOST_ROUNDS):
            await self.bench.issue_purges()
            await self.look()
            open_ones = await self.open_ones()
            if not open_ones and not await self.bench.rows("SELECT id FROM purge WHERE status <> 'DONE'"):
                return
            for command_id in open_ones:
                await self.report(command_id, "well")
                await self.check()
            self.bench.watch.advance(timedelta(hours=1))
        raise AssertionError("it never ended")

    async def check(self) -> None:
        """What must hold at every moment."""
        await self._check_operations()
        await self._check_documents()

    async def _check_operations(self) -> None:
        rows = await self.bench.rows(
            "SELECT id, type, status, document_id, retry_count, manual_attempt, root_id, parent_id FROM operation"
        )
        running, retries = Counter[object](), Counter[object]()
        for key, kind, status, document_id, retry_count, manual_attempt, root_id, parent_id in rows:
            assert self.ended.get(str(key), status) == status
            assert (int(str(retry_count)) <= 5, int(str(manual_attempt)) <= 3) == (True, True)
            retries[root_id] += parent_id is not None
            if status in {"SUCCEEDED", "FAILED", "CANCELLED"}:
                self.ended[str(key)] = str(status)
            elif kind != "DOCUMENT_DELETE" and document_id is not None:
                running[document_id] += 1
        assert all(count <= 1 for count in running.values())
        assert all(count <= 3 for count in retries.values())

    async def _check_documents(self) -> None:
        """The candidate is another one than what serves, and what serves is verified and there, whoever purges what."""
        rows = await self.bench.rows(
            "SELECT document.id, document.status, active_version_id, candidate_version_id, active.status,"
            " active.document_id, active.native_document_id, candidate.document_id"
            " FROM document LEFT JOIN document_version AS active ON active.id = active_version_id"
            " LEFT JOIN document_version AS candidate ON candidate.id = candidate_version_id"
        )
        for key, status, active, candidate, active_status, active_of, native, candidate_of in rows:
            assert (str(key) in self.hidden) == (status in {"DELETING", "DELETED"})
            assert candidate is None or (candidate != active and candidate_of == key)
            if str(key) in self.hidden:
                assert active == self.hidden[str(key)]
            elif active is not None:
                assert (active_status, active_of) == ("READY", key)
                assert self.provider.natives[str(active)] == native
                assert str(active) in self.provider.done

    async def check_end(self) -> None:
        """Everything has ended, and the provider holds what serves or may be retried, and nothing else."""
        assert set(await self.ids("operation")) == set(self.ended)
        assert await self.bench.rows("SELECT id FROM document WHERE status IN ('CREATING', 'DELETING')") == []
        needed = await self.bench.rows(
            "SELECT version.id, version.status FROM document_version AS version JOIN document"
            " ON version.id IN (active_version_id, candidate_version_id) WHERE document.status <> 'DELETED'"
        )
        serving = {str(key) for key, status in needed if status == "READY"}
        retryable = {str(key) for key, status in needed if status == "FAILED"}
        assert serving <= set(self.provider.natives) <= serving | retryable

    async def check_audit(self) -> None:
        """Every thing's transitions are told one after the other, from its beginning to how it is now."""
        now = {
            str(key): status
            for table in ("operation", "document", "document_version", "space")
            for key, status in await self.bench.rows(f"SELECT id, status FROM {table}")  # noqa: S608
        }
        told: dict[str, object] = dict.fromkeys(now)
        rows = "SELECT resource_id, before, after FROM audit_entry ORDER BY id"
        for resource_id, before, after in await self.bench.rows(rows):
            if str(resource_id) in told:
                assert told[str(resource_id)] == before
                told[str(resource_id)] = after
        assert told == now

    async def check_replay(self) -> None:
        """Every event a second time, from another delivery and in the opposite order, changes nothing."""
        before = await self.states()
        for event in reversed(self.told):
            await self.bench.tell(event, self.anew(event))
        assert await self.states() == before
        await self.finish()
        await self.check_end()


def _one(among: Sequence[T], number: int) -> T:
    return among[number % len(among)]
