"""Takes a file in: name, size, bytes and kind are checked, and a refused file leaves nothing in the store."""

import asyncio
from collections.abc import AsyncIterable
from dataclasses import dataclass

from shared.contracts.content_types import ContentType
from shared.files.keys import new_object_key
from shared.files.naming import clean_file_name
from shared.files.sniffing import sniff
from shared.files.store import FileStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedFile:
    """A stored file that may be taken by a document."""

    key: str
    name: str
    size: int
    sha256: str
    content_type: ContentType


async def receive(store: FileStore, chunks: AsyncIterable[bytes], *, claimed_name: str, limit: int) -> ReceivedFile:
    """Store an upload under a new key and tell what it is; FileRefused, with nothing kept, if it may not be taken."""
    name = clean_file_name(claimed_name)
    key = new_object_key()
    stored = await store.put_stream(key, chunks, limit=limit)
    try:
        content_type = await asyncio.to_thread(_sniff_stored, store, key, name)
    except BaseException:
        await asyncio.shield(store.delete(key))
        raise
    return ReceivedFile(key=key, name=name, size=stored.size, sha256=stored.sha256, content_type=content_type)


def _sniff_stored(store: FileStore, key: str, name: str) -> ContentType:
    with store.open_view(key) as view:
        return sniff(view, name)
