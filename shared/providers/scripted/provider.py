"""The scripted provider: both Protocols over one small store, doing what each file's script tells."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from shared.contracts.enums import LocationPrecision
from shared.domain.errors import ContentRejected, NotFound, ProviderThrottled, ProviderUnavailable
from shared.providers.ports import (
    Context,
    FileReader,
    IngestState,
    NativeDocument,
    Passage,
    Place,
    Question,
    Ranking,
    SpaceRef,
    VersionRef,
)
from shared.providers.scripted.behaviour import ScriptedDocument, likeness, paragraphs, seen, settled
from shared.providers.scripted.script import EVERY_FILE, Call, Fault, Faults, Script
from shared.providers.scripted.store import ScriptedStore
from shared.telemetry.stamps import Clock, utc_now

TEXT_LIMIT = 1_048_576
"""Bytes of a file that are kept as its text."""
CHANNEL = "scripted"
MAY_START = frozenset({IngestState.IDLE, IngestState.FAILED, IngestState.CANCELLED})
NO_FAULTS = Faults()


class ScriptedProvider:
    """Satisfies `ProviderReads` and `ProviderWrites`. Without `files` a document's text is its name."""

    def __init__(self, *, path: Path | None = None, files: FileReader | None = None, clock: Clock = utc_now) -> None:
        """`path`: the file through which several processes share one provider; None keeps it in memory."""
        self._store = ScriptedStore(path)
        self._files = files
        self._clock = clock

    def tell(self, file_name: str, script: Script) -> None:
        """Say how to behave for a file name, or for EVERY_FILE; `space_id` for what concerns a space."""
        self._store.write_script(file_name, script)

    def calls(self, call: Call, name: str) -> int:
        """How often a call was made for a document, by its version's id, or for a space."""
        return self._store.calls(call, name)

    def plant(self, version: VersionRef, text: str = "") -> str:
        """Put a document there behind the gateway's back; its native id."""
        return self._add(version, text)

    async def provision(self, space: SpaceRef) -> str:
        """See `ProviderWrites`."""
        async with self._call(Call.PROVISION, space.space_id, space.space_id):
            return self._store.add_space(space.space_id)

    async def remove_space(self, space: SpaceRef) -> None:
        """See `ProviderWrites`."""
        async with self._call(Call.REMOVE_SPACE, space.space_id, space.space_id):
            self._store.remove_space(space.space_id, self._clock())

    async def upload(self, version: VersionRef) -> str:
        """See `ProviderWrites`."""
        script = self._script(version)
        if script.rejects is not None:
            raise ContentRejected(script.rejects)
        text = await self._read(version)
        async with self._call(Call.UPLOAD, version.version_id, version.source.file_name):
            with self._store.transaction():
                found = self._store.by_name(version.space.space_id, version.name)
                for duplicate in found[1:]:
                    self._store.remove(duplicate.native_id, self._clock())
                return found[0].native_id if found else self._add(version, text)

    async def find(self, version: VersionRef) -> NativeDocument | None:
        """See `ProviderWrites`."""
        with suppress(NotFound):
            async with self._call(Call.FIND, version.version_id, version.source.file_name):
                document = self._find(version)
                return None if document is None else seen(document, self._script(version), self._clock())
        return None

    async def start_ingest(self, version: VersionRef, native_id: str) -> None:
        """See `ProviderWrites`. Of a document that runs or is done nothing changes."""
        async with self._call(Call.START, version.version_id, version.source.file_name):
            with self._changing(version, native_id) as document:
                if document.state in MAY_START:
                    self._store.save(
                        replace(document, state=IngestState.RUNNING, since=self._clock(), ingests=document.ingests + 1)
                    )

    async def stop_ingest(self, version: VersionRef, native_id: str) -> None:
        """See `ProviderWrites`."""
        async with self._call(Call.STOP, version.version_id, version.source.file_name):
            with self._changing(version, native_id) as document:
                if document.state is IngestState.RUNNING and not self._script(version).ignores_stop:
                    self._store.save(replace(document, state=IngestState.CANCELLED, since=self._clock()))

    async def probe(self, version: VersionRef, native_id: str) -> bool:
        """See `ProviderWrites`."""
        with suppress(NotFound):
            async with self._call(Call.PROBE, version.version_id, version.source.file_name):
                document = self._store.by_id(version.space.space_id, native_id)
                script = self._script(version)
                return document is not None and self._is_done(document) and not script.is_unreadable
        return False

    async def remove(self, space: SpaceRef, *, native_id: str | None, name_prefix: str) -> None:
        """See `ProviderWrites`."""
        if native_id is None:
            targets = self._store.by_prefix(space.space_id, name_prefix)
        else:
            target = self._store.by_id(space.space_id, native_id)
            targets = [] if target is None else [target]
        async with self._call(Call.REMOVE, name_prefix, targets[0].file_name if targets else EVERY_FILE):
            for document in targets:
                self._store.remove(document.native_id, self._clock())

    async def close(self) -> None:
        """See `ProviderWrites`."""
        self._store.close()

    async def search(self, question: Question) -> tuple[Ranking, ...]:
        """See `ProviderReads`. Paragraphs by the share of the question's words in them."""
        async with self._call(Call.SEARCH, CHANNEL, EVERY_FILE):
            found = [
                passage
                for space, allowed in question.allowed
                for document in self._visible(space.space_id)
                if document.native_id in allowed or self._store.script(document.file_name).foreign_hits
                for passage in _passages(document, question.text)
            ]
        best = sorted(found, key=lambda passage: -passage.score)[: question.limit]
        return (Ranking(channel=CHANNEL, passages=tuple(best)),) if question.allowed else ()

    async def read(self, space: SpaceRef, native_document_id: str, place: Place, before: int, after: int) -> Context:
        """See `ProviderReads`."""
        document = self._store.by_id(space.space_id, native_document_id)
        if document is None or not 0 <= place.start < place.end <= len(document.text):
            raise NotFound
        return Context(
            before=document.text[max(0, place.start - before) : place.start],
            matched=document.text[place.start : place.end],
            after=document.text[place.end : place.end + after],
            chapter_path=(),
            page_start=None,
            page_end=None,
            precision=LocationPrecision.EXACT_OFFSET,
        )

    async def list_documents(self, space: SpaceRef) -> Sequence[NativeDocument]:
        """See `ProviderReads`."""
        now = self._clock()
        return [
            seen(document, self._store.script(document.file_name), now)
            for document in (*self._store.all(space.space_id), *self._lingering(space.space_id))
        ]

    async def check(self) -> None:
        """See `ProviderReads`."""
        self._store.script(EVERY_FILE)

    @asynccontextmanager
    async def _call(self, call: Call, name: str, file_name: str) -> AsyncIterator[None]:
        """Count a call and let it go wrong as its script says."""
        script = self._store.script(file_name)
        delay = script.delays.get(call)
        if delay is not None:
            await asyncio.sleep(delay.total_seconds())
        faults = script.faults.get(call, NO_FAULTS)
        fault = faults.of_call(self._store.count(call, name))
        if fault is Fault.UNAVAILABLE:
            raise ProviderUnavailable
        if fault is Fault.THROTTLED:
            raise ProviderThrottled(retry_after=faults.retry_after)
        if fault is Fault.ABSENT:
            raise NotFound
        yield
        if fault is Fault.LOST:
            raise ProviderUnavailable("The answer was lost.")
        if fault is Fault.DEADLY:
            os.kill(os.getpid(), signal.SIGKILL)

    @contextmanager
    def _changing(self, version: VersionRef, native_id: str) -> Iterator[ScriptedDocument]:
        """The document as it is now, alone with it; NotFound when it is gone."""
        with self._store.transaction():
            document = self._store.by_id(version.space.space_id, native_id)
            if document is None:
                raise NotFound
            yield settled(document, self._script(version), self._clock())

    def _find(self, version: VersionRef) -> ScriptedDocument | None:
        if version.native_id is not None:
            return self._store.by_id(version.space.space_id, version.native_id)
        named = self._store.by_name(version.space.space_id, version.name)
        return named[0] if named else None

    def _script(self, version: VersionRef) -> Script:
        return self._store.script(version.source.file_name)

    def _add(self, version: VersionRef, text: str) -> str:
        return self._store.add(
            space=version.space.space_id,
            name=version.name,
            file_name=version.source.file_name,
            text=text,
            now=self._clock(),
        )

    async def _read(self, version: VersionRef) -> str:
        if self._files is None:
            return version.name
        text = bytearray()
        async for piece in self._files.get_stream(version.source.object_key):
            text += piece
            if len(text) >= TEXT_LIMIT:
                break
        return text[:TEXT_LIMIT].decode(errors="replace")

    def _is_done(self, document: ScriptedDocument) -> bool:
        return settled(document, self._store.script(document.file_name), self._clock()).state is IngestState.DONE

    def _visible(self, space: str) -> list[ScriptedDocument]:
        """What a search sees: what is done, and for a while what was removed."""
        return [document for document in self._store.all(space) if self._is_done(document)] + self._lingering(space)

    def _lingering(self, space: str) -> list[ScriptedDocument]:
        now = self._clock()
        return [
            document
            for document, removed_at in self._store.lingering(space)
            if now < removed_at + self._store.script(document.file_name).removal_lag
        ]


def _passages(document: ScriptedDocument, question: str) -> Iterator[Passage]:
    for place in paragraphs(document.text):
        text = document.text[place.start : place.end]
        score = likeness(question, text)
        if score > 0:
            yield Passage(native_document_id=document.native_id, place=place, text=text, score=score)
