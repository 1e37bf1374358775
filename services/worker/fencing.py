"""Writes that are made only while the delivery is ours: a step cannot forget the check, because it has no other way."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from shared.providers.ports import NativeDocument, ProviderWrites, SpaceRef, VersionRef

Check = Callable[[], None]
"""Raises Fenced when the delivery may be in other hands."""


class ObjectRemover(Protocol):
    """Removes stored files; `files` satisfies it."""

    def delete(self, key: str) -> Awaitable[None]:
        """Remove an object; one that is not there is as good as removed."""


class FencedWrites:
    """A provider behind the check; satisfies `ProviderWrites`. Looking needs none."""

    def __init__(self, provider: Callable[[], ProviderWrites], check: Check) -> None:
        """`provider` opens it, if it is not open yet."""
        self._provider = provider
        self._check = check

    async def provision(self, space: SpaceRef) -> str:
        """See `ProviderWrites`."""
        self._check()
        return await self._provider().provision(space)

    async def remove_space(self, space: SpaceRef) -> None:
        """See `ProviderWrites`."""
        self._check()
        await self._provider().remove_space(space)

    async def upload(self, version: VersionRef) -> str:
        """See `ProviderWrites`."""
        self._check()
        return await self._provider().upload(version)

    async def find(self, version: VersionRef) -> NativeDocument | None:
        """See `ProviderWrites`."""
        return await self._provider().find(version)

    async def start_ingest(self, version: VersionRef, native_id: str) -> None:
        """See `ProviderWrites`."""
        self._check()
        await self._provider().start_ingest(version, native_id)

    async def stop_ingest(self, version: VersionRef, native_id: str) -> None:
        """See `ProviderWrites`."""
        self._check()
        await self._provider().stop_ingest(version, native_id)

    async def probe(self, version: VersionRef, native_id: str) -> bool:
        """See `ProviderWrites`."""
        return await self._provider().probe(version, native_id)

    async def remove(self, space: SpaceRef, *, native_id: str | None, name_prefix: str) -> None:
        """See `ProviderWrites`."""
        self._check()
        await self._provider().remove(space, native_id=native_id, name_prefix=name_prefix)

    async def close(self) -> None:
        """The provider belongs to the process, not to one delivery: nothing happens."""


class FencedFiles:
    """Stored files behind the check."""

    def __init__(self, files: ObjectRemover, check: Check) -> None:
        self._files = files
        self._check = check

    async def delete(self, key: str) -> None:
        """Remove an object."""
        self._check()
        await self._files.delete(key)
