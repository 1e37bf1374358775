"""Work that flows meanwhile: documents are handed in over HTTP, always a few at once, and every 202 is remembered."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Final

from services.cli.access import Client, opened
from services.cli.settings import CliSettings
from services.cli.spaces import ensure_space
from services.cli.stack import Stack
from shared.client.errors import StillRunning
from shared.client.exchange import Patience
from shared.client.waiting import Waiting, has_succeeded
from shared.contracts.documents import DocumentUploadRequest
from shared.contracts.ids import FileResourceId, OperationId, SpaceId

SPACE: Final = "reconnect"
AT_ONCE: Final = 24
ENDS_WITHIN: Final = timedelta(minutes=5)
CONTENT: Final = b"The pump is greased every year.\n\nThe valve is closed first."
PATIENCE: Final = Patience(attempts=100)


@dataclass(slots=True, kw_only=True)
class Load:
    """A few callers, each with one document at a time."""

    client: Client
    space_id: SpaceId
    file: FileResourceId
    accepted: int = 0
    succeeded: int = 0
    lost: list[OperationId] = field(default_factory=list)
    """What was accepted and did not end well, or not at all."""
    is_over: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when nothing more is to be handed in."""
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    @property
    def waiting(self) -> int:
        """How many of those that were accepted have not ended yet."""
        return self.accepted - self.succeeded - len(self.lost)

    async def run(self) -> None:
        """Hand in until it is over, then wait for the last ones."""
        async with asyncio.TaskGroup() as callers:
            for _ in range(AT_ONCE):
                callers.create_task(self._call())

    async def _call(self) -> None:
        while not self.is_over.is_set():
            request = DocumentUploadRequest(file_resource_id=self.file, document_name=f"Document {next(self._numbers)}")
            operation_id = (await self.client.gateway.upload_document(self.space_id, request)).operation_id
            self.accepted += 1
            if await self._ends_well(operation_id):
                self.succeeded += 1
            else:
                self.lost.append(operation_id)

    async def _ends_well(self, operation_id: OperationId) -> bool:
        try:
            ended = await Waiting(within=ENDS_WITHIN).for_operation(self.client.gateway, operation_id)
        except StillRunning:
            return False
        return has_succeeded(ended)


@asynccontextmanager
async def load_on(stack: Stack) -> AsyncIterator[Load]:
    """A load on a gateway, with a space and a file for it."""
    settings = CliSettings(url=None)
    async with opened(stack.access(settings), patience=PATIENCE) as client:
        space = await ensure_space(client.gateway, SPACE, domain=settings.domains[0])

        async def pieces() -> AsyncIterator[bytes]:
            yield CONTENT

        file = await client.files.upload("pump.txt", pieces, size=len(CONTENT))
        yield Load(client=client, space_id=space.space_id, file=file.file_resource_id)
