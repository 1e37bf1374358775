"""Spaces, versions and files to try providers on."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from shared.contracts.commands import ProviderKind, ProviderProfile, SourceFile
from shared.contracts.ids import SpaceId, VersionId
from shared.domain.errors import NotFound
from shared.providers.ports import SpaceRef, VersionRef


class FolderOfFiles:
    """Files under keys in a folder: satisfies `FileReader`, and counts nothing and checks nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, key: str, content: bytes) -> None:
        """Store a file."""
        (self._folder / key).write_bytes(content)

    async def delete(self, key: str) -> None:
        """Remove a file; one that is not there is as good as removed."""
        (self._folder / key).unlink(missing_ok=True)

    def holds(self, key: str) -> bool:
        """Whether a file is there."""
        return (self._folder / key).exists()

    @asynccontextmanager
    async def open_local(self, key: str) -> AsyncIterator[Path]:
        """See `FileReader`."""
        yield self._existing(key)

    async def get_stream(self, key: str) -> AsyncIterator[bytes]:
        """See `FileReader`."""
        yield self._existing(key).read_bytes()

    def _existing(self, key: str) -> Path:
        if not self.holds(key):
            raise NotFound
        return self._folder / key


def space_ref(number: int = 1, *, kind: ProviderKind = ProviderKind.SCRIPTED) -> SpaceRef:
    """Space `number`, not provisioned yet."""
    return SpaceRef(space_id=SpaceId(f"spc_{number:04}"), profile=ProviderProfile(kind=kind, profile_code="default"))


def source_file(content: bytes, *, key: str, name: str = "report.txt", content_type: str = "text/plain") -> SourceFile:
    """What a command says of a stored file."""
    return SourceFile(
        object_key=key,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        content_type=content_type,
        file_name=name,
    )


def version_ref(space: SpaceRef, number: int = 1, *, content: bytes = b"text", name: str = "report.txt") -> VersionRef:
    """Version `number`, whose file lies under its own id."""
    version_id = VersionId(f"ver_{number:04}")
    return VersionRef(space=space, version_id=version_id, source=source_file(content, key=version_id, name=name))
