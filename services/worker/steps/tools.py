"""What a step works with, and what steps have in common."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import chain, repeat

from services.worker.fencing import FencedFiles
from shared.contracts.commands import ProviderCommand, VersionCommand
from shared.providers.ports import ProviderWrites, SpaceRef, VersionRef

LOOKS_GROW_BY = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often a provider is looked at while it works, and how patient we are with it."""

    first_look: timedelta
    look_every: timedelta
    verify_within: timedelta

    def waits(self) -> Iterator[float]:
        """The seconds between looks: short at first, for small files, then longer."""
        wait, longest = self.first_look.total_seconds(), self.look_every.total_seconds()
        growing = []
        while wait < longest:
            growing.append(wait)
            wait *= LOOKS_GROW_BY
        return chain(growing, repeat(longest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What one delivery's step may use. Its writes are fenced."""

    provider: ProviderWrites
    files: FencedFiles
    pace: Pace
    progressed: Callable[[int], Awaitable[None]]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


def space_of(command: ProviderCommand) -> SpaceRef:
    """The space that a command is about."""
    return SpaceRef(space_id=command.space_id, profile=command.profile, native_id=command.native_space_id)


def version_of(command: VersionCommand) -> VersionRef:
    """The version that a command is about."""
    return VersionRef(
        space=space_of(command),
        version_id=command.version_id,
        source=command.source,
        native_id=command.native_document_id,
    )


def known_as(version: VersionRef, native_id: str | None) -> VersionRef:
    """The same version, looked up by another native id, or by its name."""
    return replace(version, native_id=native_id)
