"""The ingests that run in this process: each a task that digests a file in children and writes the index."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

import structlog

from shared.contracts.enums import FailureReason
from shared.domain.errors import NotFound, ProviderUnavailable, Transient
from shared.providers.embedded.digester import Digester
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.index.writer import IndexWriter
from shared.providers.ports import FileReader, IngestState, VersionRef

log = structlog.get_logger()


@dataclass(slots=True)
class _Running:
    task: asyncio.Task[None]
    percent: int = 0


class Ingests:
    """Starts, watches and stops ingests, one a document at a time.

    What the index says of a document only changes when an ingest ends. A process that dies leaves it as it was,
    so whoever comes next begins anew; two that run at once write the same content.
    """

    def __init__(self, writer: IndexWriter, digester: Digester, files: FileReader) -> None:
        self._writer = writer
        self._digester = digester
        self._files = files
        self._running: dict[str, _Running] = {}
        self._errors: dict[str, Transient] = {}

    def percent(self, native_id: str) -> int | None:
        """How far the ingest of a document is, or None when none runs here."""
        running = self._running.get(native_id)
        return None if running is None else running.percent

    def raise_error(self, native_id: str) -> None:
        """Raise, once, what kept the last ingest of a document from writing its end into the index."""
        error = self._errors.pop(native_id, None)
        if error is not None:
            raise error

    def start(self, version: VersionRef, native_id: str) -> None:
        """Begin, unless it runs already."""
        if native_id not in self._running:
            self._errors.pop(native_id, None)
            task = asyncio.create_task(self._run(version, native_id))
            self._running[native_id] = _Running(task)
            task.add_done_callback(lambda _: self._running.pop(native_id))  # also of one that ends before it begins

    async def stop(self, native_id: str) -> None:
        """End an ingest that runs here, with its children's work, and say so in the index, unless it was faster."""
        self._errors.pop(native_id, None)
        running = self._running.get(native_id)
        if running is None:
            return
        running.task.cancel()
        await asyncio.wait((running.task,))  # unlike awaiting it, this can itself be cancelled
        if running.task.cancelled():
            with suppress(NotFound):
                await asyncio.to_thread(self._writer.mark, native_id, IngestState.CANCELLED)

    async def close(self) -> None:
        """End every ingest; the index keeps what it said before."""
        tasks = [running.task for running in self._running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, version: VersionRef, native_id: str) -> None:
        try:
            await self._digest(version, native_id)
        except Transient as error:
            self._errors[native_id] = error
        except Exception as error:
            log.exception("embedded.ingest.failed", version=version.version_id)
            self._errors[native_id] = ProviderUnavailable(f"The index could not be written: {type(error).__name__}.")

    async def _digest(self, version: VersionRef, native_id: str) -> None:
        try:
            async with self._files.open_local(version.source.object_key) as path:
                digest = await self._digester.digest(
                    path, version.source.content_type, on_progress=lambda percent: self._note(native_id, percent)
                )
        except DigestFailed as failure:
            log.info("embedded.ingest.refused", version=version.version_id, reason=failure.reason, why=failure.detail)
            await self._mark_failed(native_id, failure.reason)
        except NotFound:
            await self._mark_failed(native_id, FailureReason.FILE_MISSING)
        else:
            with suppress(NotFound):  # removed meanwhile: its content is not wanted any more
                await asyncio.to_thread(self._writer.replace_content, native_id, digest)

    async def _mark_failed(self, native_id: str, reason: FailureReason) -> None:
        with suppress(NotFound):
            await asyncio.to_thread(self._writer.mark, native_id, IngestState.FAILED, reason)

    def _note(self, native_id: str, percent: int) -> None:
        running = self._running.get(native_id)
        if running is not None:
            running.percent = percent
