"""The object store: a directory, S3, Google Cloud Storage, Azure or memory, by URL.

It keeps bytes under keys. What the bytes are, whose they are and how long they stay is decided elsewhere.
"""

import asyncio
import errno
import os
import tempfile
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore, from_url
from pydantic import SecretStr

from shared.domain.errors import StoreUnavailable
from shared.files.errors import ObjectMissing, StoreFull
from shared.files.keys import OBJECTS, check_key
from shared.files.measured import MeasuredStream
from shared.files.object_view import ObjectView

if TYPE_CHECKING:
    from obstore import GetOptions, ObjectMeta
    from obstore.store import ClientConfig, ObjectStore, RetryConfig, S3Config

MIB = 1024**2
PART_BYTES = 8 * MIB
PARTS_AT_ONCE = 2
READ_BYTES = MIB
VIEW_BYTES = 128 * 1024
LIST_BATCH = 1000
STALLED_AFTER = timedelta(seconds=30)
LONGEST_REQUEST = timedelta(hours=24)
BRIEF_RETRY: "RetryConfig" = {
    "max_retries": 2,
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=1), "base": 2},
    "retry_timeout": timedelta(seconds=10),
}
"""Bridges a lost connection. Anything longer is for whoever decides on the next attempt."""
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_NO_ROOM_SIGNS = (*(f"(os error {number})" for number in sorted(NO_ROOM)), "StorageFull", "507 Insufficient Storage")
"""How a directory, an S3 server of one's own and HTTP say that there is no room left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """What was stored: its size in bytes and the hexadecimal SHA-256 of its content."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectStat:
    """What the store says of an object without reading it."""

    key: str
    size: int
    modified_at: datetime


@dataclass(frozen=True, slots=True)
class ByteSpan:
    """The bytes from `start` up to, and without, `end`; both lie in the object and the span is not empty."""

    start: int
    end: int


class FileStore:
    """Objects under keys. Store failures are StoreUnavailable (StoreFull among them), absent objects ObjectMissing."""

    def __init__(self, store: "ObjectStore", *, directory: Path | None = None) -> None:
        """Prefer `open`. `directory` is where a directory store keeps its objects as files."""
        self._store = store
        self._directory = directory

    @classmethod
    def open(cls, url: str, options: Mapping[str, SecretStr] | None = None) -> Self:
        """Open the store at a URL; a directory is made if it is not there. Nothing is connected to yet."""
        parts = urlsplit(url)
        if parts.scheme == "file":
            directory = Path(unquote(parts.path)).absolute()
            return cls(LocalStore(directory, mkdir=True), directory=directory)
        if parts.scheme == "memory":
            return cls(from_url("memory:///"))
        config = {name: secret.get_secret_value() for name, secret in (options or {}).items()}
        client: ClientConfig = {
            "read_timeout": STALLED_AFTER,
            "timeout": LONGEST_REQUEST,
            "allow_http": config.get("endpoint", "").startswith("http://"),
        }
        return cls(from_url(url, config=cast("S3Config", config), client_options=client, retry_config=BRIEF_RETRY))

    async def put_stream(self, key: str, chunks: AsyncIterable[bytes], *, limit: int) -> StoredObject:
        """Store what `chunks` yields while hashing it, with a few parts in memory however large it is.

        The object appears when it is complete. Whatever goes wrong, FileTooLarge at more than `limit` bytes and
        an error of `chunks` itself included, leaves nothing behind.
        """
        measured = MeasuredStream(chunks, limit)
        try:
            with _store_errors():
                await self._put(check_key(key), measured)
        except Exception:
            if measured.failure is not None:
                raise measured.failure from None
            raise
        return StoredObject(size=measured.size, sha256=measured.sha256())

    async def get_stream(self, key: str, span: ByteSpan | None = None) -> AsyncIterator[bytes]:
        """The object's bytes, or those of a span, in pieces of about a megabyte."""
        options: GetOptions = {} if span is None else {"range": (span.start, span.end)}
        with _store_errors():
            found = await obstore.get_async(self._store, check_key(key), options=options)
            async for chunk in found.stream(min_chunk_size=READ_BYTES):
                yield bytes(chunk)

    @asynccontextmanager
    async def open_local(self, key: str) -> AsyncIterator[Path]:
        """The object as a local file: the directory store's own, which must not be changed, else a copy that is
        removed afterwards.
        """
        if self._directory is not None:
            path = self._directory / check_key(key)
            if not path.is_file():
                raise ObjectMissing
            yield path
            return
        with tempfile.NamedTemporaryFile(prefix="knowgate-") as copy:
            async for chunk in self.get_stream(key):
                await asyncio.to_thread(copy.write, chunk)
            await asyncio.to_thread(copy.flush)
            yield Path(copy.name)

    def open_view(self, key: str) -> BufferedReader:
        """The object as a seekable file that is read where it is looked at. It blocks: not for an event loop."""
        with _store_errors():
            return BufferedReader(ObjectView(obstore.open_reader(self._store, check_key(key), buffer_size=VIEW_BYTES)))

    async def stat(self, key: str) -> ObjectStat:
        """Size and time of an object."""
        with _store_errors():
            return _stat(await obstore.head_async(self._store, check_key(key)))

    async def delete(self, key: str) -> None:
        """Remove an object; one that is not there is as good as removed."""
        with suppress(ObjectMissing), _store_errors():
            await obstore.delete_async(self._store, check_key(key))

    async def list(self, prefix: str = OBJECTS) -> AsyncIterator[ObjectStat]:
        """Every object below a prefix, in no order."""
        with _store_errors():
            async for batch in obstore.list(self._store, prefix, chunk_size=LIST_BATCH):
                for meta in batch:
                    yield _stat(meta)

    async def check(self) -> None:
        """Raise StoreUnavailable unless the store answers."""
        with suppress(ObjectMissing):
            await self.stat(f"{OBJECTS}/readiness")

    async def _put(self, key: str, measured: MeasuredStream) -> None:
        """A file that fits into one part goes in one request, a larger one in parts."""
        pieces = aiter(measured)
        head = bytearray()
        async for piece in pieces:
            head += piece
            if len(head) >= PART_BYTES:
                break
        whole = len(head) < PART_BYTES
        await obstore.put_async(
            self._store,
            key,
            bytes(head) if whole else _chain(bytes(head), pieces),
            chunk_size=PART_BYTES,
            max_concurrency=PARTS_AT_ONCE,
        )
        if self._directory is not None:
            await asyncio.to_thread(_reach_disk, self._directory / key)


async def _chain(head: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield head
    async for piece in rest:
        yield piece


def _stat(meta: "ObjectMeta") -> ObjectStat:
    return ObjectStat(key=meta["path"], size=meta["size"], modified_at=meta["last_modified"])


def _reach_disk(path: Path) -> None:
    """An accepted file must survive a power cut: its bytes, its name, and its folder's name."""
    for place in (path, path.parent, path.parent.parent):
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _store_errors() -> Iterator[None]:
    """The library's messages name paths and hosts, so they go no further than the log of the cause."""
    try:
        yield
    except FileNotFoundError as error:
        raise ObjectMissing from error
    except (BaseError, OSError) as error:
        raise (StoreFull() if _tells_of_no_room(error) else StoreUnavailable()) from error


def _tells_of_no_room(error: Exception) -> bool:
    """The library gives every failure of a directory the same type; only its text holds the system's own number."""
    if isinstance(error, OSError):
        return error.errno in NO_ROOM
    return any(sign in str(error) for sign in _NO_ROOM_SIGNS)
