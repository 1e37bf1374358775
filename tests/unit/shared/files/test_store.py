"""The object store, the same tests on a directory and in memory."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from shared.domain.errors import StoreUnavailable
from shared.files.errors import FileTooLarge, ObjectMissing
from shared.files.keys import new_object_key
from shared.files.store import PART_BYTES, ByteSpan, FileStore, StoredObject
from tests.support.streams import broken_stream, collect, stream

HELLO_SHA256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
KEY = "objects/ab/abcdef"
PLENTY = 1 << 40


class ClientGone(Exception):
    pass


@pytest.fixture(params=["directory", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> FileStore:
    return FileStore.open(tmp_path.as_uri() if request.param == "directory" else "memory:///")


async def keys_in(store: FileStore) -> list[str]:
    return sorted([found.key async for found in store.list()])


async def test_what_was_stored_is_measured_and_comes_back(store: FileStore) -> None:
    stored = await store.put_stream(KEY, stream(b"hel", b"", b"lo"), limit=5)

    assert stored == StoredObject(size=5, sha256=HELLO_SHA256)
    assert await collect(store.get_stream(KEY)) == b"hello"


async def test_a_span_is_read_alone(store: FileStore) -> None:
    await store.put_stream(KEY, stream(b"0123456789"), limit=PLENTY)

    assert await collect(store.get_stream(KEY, ByteSpan(3, 7))) == b"3456"


async def test_an_object_of_several_parts_is_the_same_bytes(store: FileStore) -> None:
    chunk = bytes(range(256)) * 4096
    count = 2 * PART_BYTES // len(chunk) + 1
    stored = await store.put_stream(KEY, stream(*[chunk] * count, b"end"), limit=PLENTY)

    assert stored.size == len(chunk) * count + 3
    assert stored.sha256 == hashlib.sha256(chunk * count + b"end").hexdigest()
    assert await collect(store.get_stream(KEY, ByteSpan(stored.size - 4, stored.size))) == b"\xffend"


async def test_an_empty_object_is_kept_as_one(store: FileStore) -> None:
    assert (await store.put_stream(KEY, stream(), limit=0)).size == 0
    assert await collect(store.get_stream(KEY)) == b""


@pytest.mark.parametrize("size", [11, 3 * PART_BYTES])
async def test_more_bytes_than_allowed_leave_nothing_behind(store: FileStore, tmp_path: Path, size: int) -> None:
    with pytest.raises(FileTooLarge, match=f"{size - 1} bytes"):
        await store.put_stream(KEY, stream(b"x" * (size - 10), b"y" * 10), limit=size - 1)

    assert await keys_in(store) == []
    assert files_under(tmp_path) == []


@pytest.mark.parametrize("size", [10, 3 * PART_BYTES])
async def test_a_client_that_goes_away_leaves_nothing_behind(store: FileStore, tmp_path: Path, size: int) -> None:
    gone = ClientGone()
    with pytest.raises(ClientGone) as raised:
        await store.put_stream(KEY, broken_stream(b"x" * size, error=gone), limit=PLENTY)

    assert raised.value is gone
    assert await keys_in(store) == []
    assert files_under(tmp_path) == []


async def test_an_error_of_the_stream_is_not_taken_for_one_of_the_store(store: FileStore) -> None:
    with pytest.raises(FileNotFoundError):
        await store.put_stream(KEY, broken_stream(error=FileNotFoundError()), limit=PLENTY)


async def test_a_cancelled_upload_leaves_nothing_behind(store: FileStore, tmp_path: Path) -> None:
    has_sent = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * PART_BYTES
            has_sent.set()
            await asyncio.sleep(0)

    upload = asyncio.create_task(store.put_stream(KEY, endless(), limit=PLENTY))
    await has_sent.wait()
    upload.cancel()
    with pytest.raises(asyncio.CancelledError):
        await upload

    await asyncio.to_thread(wait_until_empty, tmp_path)
    assert await keys_in(store) == []


async def test_a_local_file_holds_the_object(store: FileStore) -> None:
    await store.put_stream(KEY, stream(b"hello"), limit=PLENTY)

    async with store.open_local(KEY) as path:
        assert path.read_bytes() == b"hello"


async def test_a_directorys_own_file_is_lent_and_a_copy_is_removed_afterwards(tmp_path: Path) -> None:
    directory, memory = FileStore.open(tmp_path.as_uri()), FileStore.open("memory:///")
    for store in (directory, memory):
        await store.put_stream(KEY, stream(b"hello"), limit=PLENTY)

    async with directory.open_local(KEY) as lent, memory.open_local(KEY) as copy:
        assert lent == tmp_path / KEY

    assert (lent.exists(), copy.exists()) == (True, False)


async def test_a_view_seeks_without_reading_it_all(store: FileStore) -> None:
    await store.put_stream(KEY, stream(b"0123456789"), limit=PLENTY)

    with store.open_view(KEY) as view:
        assert view.seek(-3, 2) == 7
        assert view.read() == b"789"
        assert view.seek(2) == 2
        assert (view.read(3), view.tell()) == (b"234", 5)


async def test_an_object_is_described_without_being_read(store: FileStore) -> None:
    await store.put_stream(KEY, stream(b"hello"), limit=PLENTY)
    (listed,) = [found async for found in store.list()]

    assert await store.stat(KEY) == listed
    assert (listed.key, listed.size) == (KEY, 5)
    assert listed.modified_at.tzinfo is not None


async def test_listing_stays_below_its_prefix(store: FileStore) -> None:
    await store.put_stream(KEY, stream(b"1"), limit=PLENTY)
    await store.put_stream("other/ab/cdef", stream(b"2"), limit=PLENTY)

    assert await keys_in(store) == [KEY]
    assert [found.key async for found in store.list("other")] == ["other/ab/cdef"]


async def test_deleting_twice_is_as_good_as_once(store: FileStore) -> None:
    await store.put_stream(KEY, stream(b"hello"), limit=PLENTY)
    await store.delete(KEY)
    await store.delete(KEY)

    assert await keys_in(store) == []


async def test_an_absent_object_is_missing_for_every_reader(store: FileStore) -> None:
    with pytest.raises(ObjectMissing):
        await store.stat(KEY)
    with pytest.raises(ObjectMissing):
        await collect(store.get_stream(KEY))
    with pytest.raises(ObjectMissing):
        async with store.open_local(KEY):
            pass
    with pytest.raises(ObjectMissing):
        store.open_view(KEY).read()


async def test_a_span_that_the_object_does_not_have_is_a_store_error(store: FileStore) -> None:
    await store.put_stream(KEY, stream(b"hello"), limit=PLENTY)

    with pytest.raises(StoreUnavailable):
        await collect(store.get_stream(KEY, ByteSpan(5, 6)))


async def test_a_store_that_answers_passes_its_check(store: FileStore) -> None:
    await store.check()


@pytest.mark.parametrize(
    "key", ["../etc/passwd", "objects/../../x", "/etc/passwd", "objects//x", "Objects/a/b", "a", ""]
)
async def test_a_key_that_could_lead_elsewhere_is_refused(store: FileStore, key: str) -> None:
    with pytest.raises(ValueError, match="not an object key"):
        async with store.open_local(key):
            pass
    with pytest.raises(ValueError, match="not an object key"):
        await store.put_stream(key, stream(b"x"), limit=PLENTY)


def test_keys_are_random_and_spread() -> None:
    first, second = new_object_key(), new_object_key()

    assert first != second
    prefix, folder, token = first.split("/")
    assert (prefix, len(token)) == ("objects", 40)
    assert token.startswith(folder)


def test_a_directory_with_spaces_in_its_name_is_opened(tmp_path: Path) -> None:
    FileStore.open((tmp_path / "my files").as_uri())

    assert (tmp_path / "my files").is_dir()


def files_under(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def wait_until_empty(folder: Path) -> None:
    """The store removes its part of a cancelled upload in a thread of its own, a moment later."""
    deadline = time.monotonic() + 5
    while files_under(folder):
        assert time.monotonic() < deadline
        time.sleep(0.01)
