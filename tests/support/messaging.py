"""Settings, connections and sample messages for tests that talk to a real broker."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from pydantic import SecretStr

from shared.contracts.commands import ProviderKind, ProviderProfile, SourceFile, UploadVersion
from shared.contracts.enums import Step
from shared.contracts.events import AnyEvent, StepStarted
from shared.contracts.ids import CommandId, DocumentId, OperationId, SpaceId, TenantId, VersionId
from shared.messaging.connection import Connection, connect
from shared.messaging.settings import MessagingSettings
from shared.messaging.streams import declare

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def messaging_settings(url: str, *, ack_wait: timedelta = timedelta(seconds=30)) -> MessagingSettings:
    """Settings that notice a restarted broker quickly."""
    return MessagingSettings(
        url=SecretStr(url),
        reconnect_wait=timedelta(milliseconds=50),
        publish_timeout=timedelta(seconds=3),
        fetch_timeout=timedelta(milliseconds=500),
        ack_wait=ack_wait,
    )


@asynccontextmanager
async def connected(settings: MessagingSettings) -> AsyncIterator[Connection]:
    """A connection to a broker on which everything is declared."""
    connection = await connect(settings, name="test")
    try:
        await declare(connection.jetstream, settings)
        yield connection
    finally:
        await connection.close()


def upload_command(number: int = 1, *, tenant: str = "acme") -> UploadVersion:
    """The first upload command of operation `number`."""
    return UploadVersion(
        command_id=str(CommandId(f"op_{number}", Step.UPLOAD, 1, 1)),
        tenant_id=TenantId(tenant),
        issued_at=NOON,
        deadline_seconds=60,
        profile=ProviderProfile(kind=ProviderKind.SCRIPTED, profile_code="default"),
        operation_id=OperationId(f"op_{number}"),
        space_id=SpaceId("spc_1"),
        native_space_id="native_1",
        document_id=DocumentId(f"doc_{number}"),
        version_id=VersionId(f"ver_{number}"),
        source=SourceFile(
            object_key=f"objects/{number}",
            size=0,
            sha256=EMPTY_SHA256,
            content_type="text/plain",
            file_name="report.txt",
        ),
    )


def started_event(number: int = 1, *, run: str = "run", tenant: str = "acme") -> AnyEvent:
    """The `started` hint of the first upload of operation `number`."""
    command = CommandId(f"op_{number}", Step.UPLOAD, 1, 1)
    return StepStarted(
        event_id=command.event(run, 1),
        command_id=str(command),
        owner_id=command.owner,
        step=command.step,
        tenant_id=TenantId(tenant),
        occurred_at=NOON,
    )
