"""What a retrieval provider can do, as two Protocols: reading for api and reconciler, writing for workers only."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum, unique
from pathlib import Path
from typing import Protocol

from shared.contracts.commands import ProviderProfile, SourceFile
from shared.contracts.enums import FailureReason, LocationPrecision
from shared.contracts.ids import SpaceId, VersionId


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceRef:
    """A space as a provider sees it. `native_id` is None before it is provisioned."""

    space_id: SpaceId
    profile: ProviderProfile
    native_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRef:
    """A version as a provider sees it: its provider document bears the version's id in its name."""

    space: SpaceRef
    version_id: VersionId
    source: SourceFile
    native_id: str | None = None

    @property
    def name(self) -> str:
        """The provider document's name: the version id with the file's extension, never the user's file name."""
        suffix = Path(self.source.file_name).suffix.lower()
        return f"{self.version_id}{suffix}" if suffix.isascii() and suffix[1:].isalnum() else self.version_id


_OUR_NAME = re.compile(r"(ver_[0-9a-z]+)(\.[0-9a-z]+)?")


def version_named(name: str) -> VersionId | None:
    """The version whose name a provider document bears; None when the name is not one that we give."""
    found = _OUR_NAME.fullmatch(name)
    return None if found is None else VersionId(found[1])


@unique
class IngestState(StrEnum):
    """What a provider says of a document. `parse` is sent only for IDLE, FAILED and CANCELLED (fence 4)."""

    IDLE = "idle"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeDocument:
    """A provider document as last seen."""

    native_id: str
    name: str
    state: IngestState
    percent: int | None = None
    """The provider's own figure, 0-100; None when it gives none."""
    chunk_count: int = 0
    failure: FailureReason | None = None
    """Why it FAILED, when the provider says so in a way that we can tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a passage lies: code points [start, end) of the version's normalised text, or a provider's chunk."""

    start: int
    end: int
    chunk: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One passage that a provider found. `score` lies in 0-1 and compares only within one list."""

    native_document_id: str
    place: Place
    text: str
    score: float
    chapter_path: tuple[str, ...] = ()
    page_start: int | None = None
    page_end: int | None = None
    precision: LocationPrecision = LocationPrecision.EXACT_OFFSET


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """One channel's answer, best first. Rankings are fused by rank, never by score."""

    channel: str
    passages: tuple[Passage, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What to search, where, and how many passages at most per ranking."""

    text: str
    allowed: Sequence[tuple[SpaceRef, Sequence[str]]]
    """For each space the native document ids that may be found. Empty: nothing is found, never everything."""
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A place read back from the normalised text with what stands before and after it."""

    before: str
    matched: str
    after: str
    chapter_path: tuple[str, ...]
    page_start: int | None
    page_end: int | None
    precision: LocationPrecision


class FileReader(Protocol):
    """How a provider gets at a version's bytes; `files` satisfies it."""

    def open_local(self, key: str) -> AbstractAsyncContextManager[Path]:
        """The object as a local file for the time of the context."""

    def get_stream(self, key: str) -> AsyncIterator[bytes]:
        """The object's bytes in pieces."""


class ProviderReads(Protocol):
    """What api and reconciler may do. Failures are ProviderUnavailable or ProviderThrottled, never an empty answer."""

    async def search(self, question: Question) -> tuple[Ranking, ...]:
        """Rank passages of the allowed documents. Foreign hits are the caller's to drop."""

    async def read(self, space: SpaceRef, native_document_id: str, place: Place, before: int, after: int) -> Context:
        """Read a place with up to `before` and `after` code points around it; NotFound when it is gone."""

    async def list_documents(self, space: SpaceRef) -> Sequence[NativeDocument]:
        """Everything the provider holds in a space."""

    async def check(self) -> None:
        """Raise ProviderUnavailable, with the reason, unless the provider can serve."""


class ProviderWrites(Protocol):
    """What workers may do. Every call may run twice and the second changes nothing."""

    async def provision(self, space: SpaceRef) -> str:
        """Find or make the provider's side of a space; its native id."""

    async def remove_space(self, space: SpaceRef) -> None:
        """Remove the provider's side of a space; nothing happens when it is gone."""

    async def upload(self, version: VersionRef) -> str:
        """Find the version's document by name or create it; of several by that name keep the oldest. Its native id."""

    async def find(self, version: VersionRef) -> NativeDocument | None:
        """The version's document by native id, or by name when none is known; None when there is none."""

    async def start_ingest(self, version: VersionRef, native_id: str) -> None:
        """Begin to parse and index; for a document that is IDLE, FAILED or CANCELLED."""

    async def stop_ingest(self, version: VersionRef, native_id: str) -> None:
        """Ask to stop; the caller looks with `find` until the state has changed."""

    async def probe(self, version: VersionRef, native_id: str) -> bool:
        """Whether a read really returns text of this document."""

    async def remove(self, space: SpaceRef, *, native_id: str | None, name_prefix: str) -> None:
        """Remove exactly `native_id`, or when it is None every document whose name begins with `name_prefix`."""

    async def close(self) -> None:
        """End child processes and connections."""
