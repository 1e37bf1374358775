"""Taking files in: what is kept of one that is taken, and that nothing is kept of one that is refused."""

import pytest

from shared.contracts.content_types import ContentType
from shared.files.errors import FileNameRefused, FileTooLarge, FileTypeRefused
from shared.files.intake import ReceivedFile, receive
from shared.files.store import FileStore
from tests.support.streams import collect, stream

PLENTY = 1 << 30


@pytest.fixture
def store() -> FileStore:
    return FileStore.open("memory:///")


async def keys_in(store: FileStore) -> list[str]:
    return [found.key async for found in store.list()]


async def test_a_file_that_is_taken_is_stored_measured_and_named(store: FileStore) -> None:
    received = await receive(store, stream(b"# Ti", b"tle\n"), claimed_name="../notes/Plan.md", limit=PLENTY)

    assert received == ReceivedFile(
        key=received.key,
        name="Plan.md",
        size=8,
        sha256="e01b17ff9af77056792f67c57e3d1908795b9d1ae4cfe72421d0a2838991b740",
        content_type=ContentType.MARKDOWN,
    )
    assert await collect(store.get_stream(received.key)) == b"# Title\n"


async def test_equal_files_get_different_keys(store: FileStore) -> None:
    first = await receive(store, stream(b"same"), claimed_name="a.txt", limit=PLENTY)
    second = await receive(store, stream(b"same"), claimed_name="a.txt", limit=PLENTY)

    assert first.sha256 == second.sha256
    assert first.key != second.key


async def test_nothing_is_kept_of_a_renamed_executable(store: FileStore) -> None:
    with pytest.raises(FileTypeRefused, match="Windows program"):
        await receive(store, stream(b"MZ\x90\x00\x03\x00"), claimed_name="invoice.pdf", limit=PLENTY)

    assert await keys_in(store) == []


async def test_nothing_is_kept_of_a_file_that_is_too_large(store: FileStore) -> None:
    with pytest.raises(FileTooLarge):
        await receive(store, stream(b"12345"), claimed_name="a.txt", limit=4)

    assert await keys_in(store) == []


async def test_a_name_is_refused_before_a_byte_is_read(store: FileStore) -> None:
    unread = stream(b"content")
    with pytest.raises(FileNameRefused):
        await receive(store, unread, claimed_name="..", limit=PLENTY)

    assert await collect(unread) == b"content"
