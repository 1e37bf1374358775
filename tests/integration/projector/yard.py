"""A bench whose commands are carried out at a provider and an object store, with a reconciler beside it."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection

from services.projector.reconciling import Eyes, Reconciling
from services.projector.surveying import Survey
from shared.contracts.commands import (
    COMMANDS,
    AnyCommand,
    ProviderKind,
    ProviderProfile,
    PurgeFile,
    PurgeVersion,
    SourceFile,
    VersionCommand,
)
from shared.contracts.enums import EventType
from shared.contracts.events import SpaceProvisioned, VersionUploaded
from shared.contracts.ids import CommandId, DocumentId, OperationId, ReconciliationId, SpaceId, TenantId, VersionId
from shared.database.database import Database
from shared.database.outbox import find_commands
from shared.database.reconciliations import Reconciliation, insert_reconciliation, load_reconciliations
from shared.domain.errors import ProviderUnavailable
from shared.domain.unfinished import LiveWorkers
from shared.files.keys import new_object_key
from shared.files.store import FileStore
from shared.providers.ports import NativeDocument, SpaceRef, VersionRef
from shared.providers.scripted.provider import ScriptedProvider
from tests.integration.lifecycle.bench import Bench, verified

T = TypeVar("T")

PROFILE = ProviderProfile(kind=ProviderKind.SCRIPTED, profile_code="enterprise-long-document")
NO_WORKERS = LiveWorkers(is_known=True, slots={}, hands={})


class WatchedProvider(ScriptedProvider):
    """May be away for some spaces, may tell what it likes, and lets something happen just after it was listed."""

    away: Sequence[str] = ()
    told: Sequence[NativeDocument] | None = None
    then: Callable[[], Awaitable[object]] | None = None

    async def list_documents(self, space: SpaceRef) -> Sequence[NativeDocument]:
        """See `ProviderReads`."""
        if space.space_id in self.away:
            raise ProviderUnavailable
        listed = await super().list_documents(space) if self.told is None else self.told
        if self.then is not None:
            await self.then()
        return listed


class MeddledDatabase:
    """A database with something that happens before its transactions, by their number, or at the end of each."""

    def __init__(
        self,
        database: Database,
        *,
        before: Callable[[int], Awaitable[None]] | None = None,
        after: Callable[[Connection], None] | None = None,
    ) -> None:
        self.read = database.read
        self._database, self._before, self._after = database, before, after
        self._transactions = 0

    async def write(self, work: Callable[[Connection], T]) -> T:
        """See `Database`."""
        self._transactions += 1
        if self._before is not None:
            await self._before(self._transactions)

        def worked(conn: Connection) -> T:
            made = work(conn)
            if self._after is not None:
                self._after(conn)
            return made

        return await self._database.write(worked)


@dataclass
class Yard:
    """Everything a reconciliation compares."""

    bench: Bench
    provider: WatchedProvider
    objects: Path
    ended: list[Reconciliation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.store = FileStore.open(self.objects.as_uri())

    def reconciling(self, guard: Callable[[Connection], None] = lambda _: None, **changes: object) -> Reconciling:
        """The reconciler; a periodic one comes after an hour."""
        survey = Survey(reads=lambda _: self.provider, store=self.store)
        given: dict[str, object] = {
            "database": self.bench.database,
            "around": self.bench.around,
            "guard": guard,
            "eyes": Eyes(survey=survey, workers=lambda: NO_WORKERS, patience=timedelta(seconds=30)),
            "every": timedelta(days=365),
            "settled_after": timedelta(minutes=5),
            "since": self.bench.watch.now,
            "on_ended": self.ended.append,
            **changes,
        }
        return Reconciling(**given)  # type: ignore[arg-type]

    async def ask(self, *, applies: bool, tenant: str | None = None) -> ReconciliationId:
        """Ask for a reconciliation, of all tenants unless one is named."""
        new = Reconciliation(
            id=ReconciliationId(f"rec_{next(self.bench.numbers)}"),
            tenant_id=None if tenant is None else TenantId(tenant),
            applies=applies,
            requested_by="ana",
            created_at=self.bench.watch.now,
        )
        await self.bench.write(lambda conn: insert_reconciliation(conn, new))
        return new.id

    async def look(self, *, applies: bool = False, tenant: str | None = None) -> Reconciliation:
        """Have a reconciliation carried out; its report."""
        asked = await self.ask(applies=applies, tenant=tenant)
        await self.reconciling().round()
        return await self.report(asked)

    async def report(self, reconciliation_id: ReconciliationId) -> Reconciliation:
        """What is stored of a reconciliation."""
        found = await self.bench.database.read(lambda conn: load_reconciliations(conn, [reconciliation_id]))
        return found[reconciliation_id]

    async def space(self, code: str = "manuals") -> SpaceId:
        """An ACTIVE space."""
        accepted = await self.bench.create_space(code)
        space = accepted.work.space
        native = await self.provider.provision(SpaceRef(space_id=space.id, profile=PROFILE))
        await self.bench.tell(
            self.bench.succeeded(accepted.command.command_id, SpaceProvisioned(native_space_id=native))
        )
        return space.id

    async def document(self, space_id: SpaceId, content: str = "a") -> DocumentId:
        """An ACTIVE document whose version is at the provider."""
        accepted = await self.bench.upload(space_id, content)
        assert accepted.work.document is not None
        await self.carry_out(accepted.work.operation.id)
        return accepted.work.document.id

    async def carry_out(self, operation_id: OperationId) -> None:
        """Run the commands of an operation until it is over."""
        while (operation := await self.bench.operation(operation_id)).work is not None:
            rows = await self.bench.database.read(lambda conn: find_commands(conn, {operation_id}))
            (body,) = [row.body for row in rows if row.command_id == str(operation.work)]
            command = COMMANDS.validate_json(body)
            assert isinstance(command, VersionCommand)
            await self._run(command)

    async def _run(self, command: VersionCommand) -> None:
        version = VersionRef(
            space=SpaceRef(space_id=command.space_id, profile=PROFILE, native_id=command.native_space_id),
            version_id=command.version_id,
            source=command.source,
        )
        native = await self.provider.upload(version)
        result = VersionUploaded(native_document_id=native)
        if CommandId.parse(command.command_id).step.value != "upload":
            await self.provider.start_ingest(version, native)
            await self.bench.tell(self.bench.succeeded(command.command_id, verified(native)))
            return
        await self.store_object(command.source.object_key)
        await self.bench.tell(self.bench.succeeded(command.command_id, result))

    async def purge_all(self) -> list[str]:
        """Carry out purges until none is due; the native ids, names or objects that were removed."""
        removed = []
        while await self.bench.issue_purges():
            owners = [
                str(owner)
                for (owner,) in await self.bench.rows(
                    "SELECT owner_id FROM outbox WHERE step IN ('purge', 'purge-file') ORDER BY 1"
                )
            ]
            for row in await self.bench.database.read(partial(find_commands, owner_ids=owners)):
                command = COMMANDS.validate_json(row.body)
                removed.append(await self._remove(command))
                await self.bench.tell(self.bench.event(command.command_id, EventType.PURGED))
        return removed

    async def _remove(self, command: AnyCommand) -> str:
        if isinstance(command, PurgeFile):
            await self.store.delete(command.object_key)
            return command.object_key
        assert isinstance(command, PurgeVersion)
        space = SpaceRef(space_id=command.space_id, profile=PROFILE, native_id=command.native_space_id)
        await self.provider.remove(space, native_id=command.native_document_id, name_prefix=command.version_id)
        return command.native_document_id or command.version_id

    def version(self, space_id: SpaceId, version_id: str, file_name: str = "a.txt") -> VersionRef:
        """A version as the provider is told of it, whether there is one or not."""
        source = SourceFile(object_key="a/b", size=1, sha256="0" * 64, content_type="text/plain", file_name=file_name)
        space = SpaceRef(space_id=space_id, profile=PROFILE)
        return VersionRef(space=space, version_id=VersionId(version_id), source=source)

    def plant(self, space_id: SpaceId, version_id: str, file_name: str = "a.txt") -> str:
        """Put a provider document there behind the gateway's back; its native id."""
        return self.provider.plant(self.version(space_id, version_id, file_name), "A leak.")

    async def held(self, space_id: SpaceId) -> list[str]:
        """The native ids at the provider."""
        listed = await ScriptedProvider.list_documents(self.provider, SpaceRef(space_id=space_id, profile=PROFILE))
        return sorted(document.native_id for document in listed)

    async def native(self, document_id: DocumentId) -> str:
        """The provider document that a document serves."""
        document = await self.bench.document(document_id)
        return str((await self.bench.version(str(document.active_version_id))).native_document_id)

    async def store_object(self, key: str | None = None, *, age: timedelta = timedelta(0)) -> str:
        """An object, so old by the bench's clock; its key."""
        key = key or new_object_key()

        async def chunks() -> AsyncIterator[bytes]:
            yield b"bytes"

        await self.store.put_stream(key, chunks(), limit=100)
        moment = (self.bench.watch.now - age).timestamp()
        os.utime(self.objects / key, (moment, moment))
        return key


def kinds(report: Reconciliation) -> dict[str, int]:
    """How much was found of each kind."""
    return {kind.value: number for kind, number in report.totals.items()}


def outcomes(report: Reconciliation) -> list[tuple[str, str]]:
    """What was found, and what was done about it."""
    return [(finding.kind.value, finding.outcome.value) for finding in report.findings]
