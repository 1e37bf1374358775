"""What is kept for a while is kept no longer: every setting of it has an effect."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from services.cli.stack import Stack
from shared.client.waiting import has_succeeded
from shared.contracts.uploads import OFFSET_BYTES, TUS_RESUMABLE, TUS_VERSION, UPLOADS
from tests.e2e.conversation import conversation
from tests.e2e.family import stack_of_its_own
from tests.support.eventually import until

KEPT, UNUSED, UNFINISHED = b"# Ferry\n\nIt leaves at seven.\n", b"Nobody makes a document of this.\n", b"Half of"
SHORT = {
    "KNOWGATE_FILES_RESOURCE_TTL": "12",
    "KNOWGATE_FILES_UPLOAD_TTL": "5",
    "KNOWGATE_FILES_SWEEP_INTERVAL": "0.5",
    "KNOWGATE_PIPELINE_ANSWERS_KEPT": "2",
    "KNOWGATE_PROJECTOR_INBOX_KEPT": "2",
    "KNOWGATE_PROJECTOR_HOUSEKEEPING_INTERVAL": "0.5",
}
WITHIN = timedelta(minutes=2)


@pytest.fixture
def forgetful(tmp_path: Path) -> Iterator[Stack]:
    """A gateway that keeps everything for seconds."""
    with stack_of_its_own(tmp_path, SHORT) as stack:
        yield stack


def rows(stack: Stack, table: str) -> int:
    with closing(sqlite3.connect(f"{stack.home.database.as_uri()}?mode=ro", uri=True)) as database:
        (count,) = database.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - a table of ours
    return int(count)


def stored(stack: Stack) -> set[bytes]:
    """The content of every object; one may go while it is looked for."""
    found = set()
    for path in stack.home.objects.rglob("*"):
        with suppress(FileNotFoundError, IsADirectoryError):
            found.add(path.read_bytes())
    return found


def leave_unfinished(stack: Stack) -> None:
    """Begin a resumable upload, and send half of it."""
    access = stack.access()
    headers = access.credentials.headers() | {
        "X-Tool-Call-Id": "call-1",
        "X-Request-Id": "request-1",
        TUS_RESUMABLE: TUS_VERSION,
        "Upload-Length": str(2 * len(UNFINISHED)),
        "Upload-Metadata": "filename YS50eHQ=",
        "Content-Type": OFFSET_BYTES,
    }
    begun = httpx.post(f"{access.url}{UPLOADS}", headers=headers, content=UNFINISHED, timeout=30, trust_env=False)
    assert (begun.status_code, begun.headers["Upload-Offset"]) == (201, str(len(UNFINISHED)))


async def test_what_nobody_needs_goes_when_its_time_is_up_and_what_a_document_needs_stays(forgetful: Stack) -> None:
    async with conversation(forgetful, "kept") as talk:
        accepted = await talk.submit("ferry.md", KEPT)
        assert has_succeeded(await talk.end_of(accepted.operation_id))
        await talk.send("unused.txt", UNUSED)
    leave_unfinished(forgetful)
    assert {KEPT, UNUSED, UNFINISHED} == stored(forgetful)

    await until(lambda: UNFINISHED not in stored(forgetful), within=WITHIN)
    await until(lambda: rows(forgetful, "upload") == 0, within=WITHIN)
    await until(lambda: rows(forgetful, "idempotency") == 0, within=WITHIN)
    await until(lambda: stored(forgetful) == {KEPT}, within=WITHIN)
    await until(lambda: rows(forgetful, "file_resource") == 0, within=WITHIN)
    await until(lambda: rows(forgetful, "inbox") == 0, within=WITHIN)
    async with conversation(forgetful, "kept") as talk:
        assert (await talk.client.gateway.get_document(accepted.document_id)).searchable
