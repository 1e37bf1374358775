"""Looks at what provider and object store hold, outside of every transaction, for the comparison with our rows.

What cannot be looked at is NotLookedAt, and never taken for empty.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog

from shared.contracts.commands import ProviderKind
from shared.domain.errors import KnowgateError
from shared.domain.reconciling import SeenDocument
from shared.domain.space import Space
from shared.files.store import FileStore, ObjectStat
from shared.providers.ports import IngestState, NativeDocument, ProviderReads, SpaceRef, version_named

LIST_WITHIN: Final = timedelta(minutes=5)
"""How long a provider may take to list a space."""
OBJECTS_AT_ONCE: Final = 1000

log = structlog.get_logger()


class NotLookedAt(Exception):
    """Something did not let itself be looked at; the text says what and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """The eyes of a reconciliation."""

    reads: Callable[[ProviderKind], ProviderReads]
    store: FileStore

    async def documents(self, space: Space) -> list[SeenDocument]:
        """Everything the provider holds in a space."""
        ref = SpaceRef(space_id=space.id, profile=space.profile, native_id=space.native_id)
        with _looking(f"space {space.id}"):
            async with asyncio.timeout(LIST_WITHIN.total_seconds()):
                return [_seen(document) for document in await self.reads(space.profile.kind).list_documents(ref)]

    async def objects(self) -> AsyncIterator[list[ObjectStat]]:
        """Everything the object store holds, piece by piece."""
        listing = aiter(self.store.list())
        while piece := await self._piece(listing):
            yield piece

    async def _piece(self, listing: AsyncIterator[ObjectStat]) -> list[ObjectStat]:
        piece: list[ObjectStat] = []
        with _looking("the object store"):
            while len(piece) < OBJECTS_AT_ONCE and (stat := await anext(listing, None)) is not None:
                piece.append(stat)
        return piece


def _seen(document: NativeDocument) -> SeenDocument:
    return SeenDocument(
        native_id=document.native_id,
        name=document.name,
        version_id=version_named(document.name),
        is_served=document.state is IngestState.DONE and document.chunk_count > 0,
    )


@contextmanager
def _looking(at: str) -> Iterator[None]:
    """Whatever goes wrong, the rest is looked at all the same."""
    try:
        yield
    except KnowgateError as error:
        raise NotLookedAt(f"{at} ({error.message})") from error
    except TimeoutError as error:
        raise NotLookedAt(f"{at} (it took too long)") from error
    except Exception as error:
        log.exception("projector.survey.failed", at=at)
        raise NotLookedAt(f"{at} (something unexpected happened; the projector's log tells what)") from error
