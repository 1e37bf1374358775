"""SQLite is busy or has no room: what is answered is true, nothing is given up, and all goes on by itself."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from shared.database.settings import DatabaseSettings
from shared.database.sqlite import database_file
from tests.integration.database.trouble import (
    Disk,
    Whole,
    document_request,
    post_all,
    reads_of,
    refused_for_now,
    whole_at,
)
from tests.support.eventually import until

DOCUMENTS = 12
SOON = timedelta(milliseconds=300)


@pytest.fixture
def hasty(sqlite: DatabaseSettings) -> DatabaseSettings:
    """A database for which nobody waits long."""
    return sqlite.model_copy(update={"lock_timeout": SOON})


@pytest.fixture
async def whole(hasty: DatabaseSettings, tmp_path: Path, nats_url: str) -> AsyncIterator[Whole]:
    async with whole_at(hasty, tmp_path, nats_url) as whole:
        yield whole


@contextmanager
def written_by_another(settings: DatabaseSettings) -> Iterator[None]:
    """Somebody who knows nothing of turns has the right to write."""
    with closing(sqlite3.connect(database_file(settings), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def test_while_another_writes_for_too_long_new_work_is_refused_for_now_and_reads_go_on(
    whole: Whole, hasty: DatabaseSettings
) -> None:
    space_id = await whole.space()
    (file,) = await whole.files(1)
    path, body = f"/spaces/{space_id}/documents", document_request(file, 1)
    with written_by_another(hasty):
        refused_for_now(await whole.gateway.post(path, body, key="once"))
        assert [answer.status_code for answer in await reads_of(whole, space_id)] == [200, 200, 200, 404]
    await whole.insist(path, body, "once")
    await whole.all_is_well(1)


async def test_the_projector_outlasts_another_writer_and_gives_nothing_up(
    whole: Whole, hasty: DatabaseSettings
) -> None:
    space_id = await whole.space()
    files = await whole.files(DOCUMENTS)
    with capture_logs() as logs:
        posting = asyncio.create_task(post_all(whole, space_id, files))
        with written_by_another(hasty):
            await until(lambda: sum("projector" in log["event"] for log in logs) >= 4)
        await posting
    await whole.all_is_well(DOCUMENTS)
    assert not [log for log in logs if log["log_level"] in {"error", "critical"}]


async def test_without_room_nothing_is_answered_that_is_not_there_and_with_room_all_goes_on(whole: Whole) -> None:
    disk = Disk(whole.gateway.parts.database, whole.database)
    space_id = await whole.space()
    files = await whole.files(DOCUMENTS)
    path = f"/spaces/{space_id}/documents"
    await disk.fill()
    with capture_logs() as logs:
        bodies = [document_request(file, number) for number, file in enumerate(files)]
        answers = await asyncio.gather(
            *(whole.gateway.post(path, body, key=f"key-{number}") for number, body in enumerate(bodies))
        )
        taken = [answer for answer in answers if answer.status_code == 202]
        for answer in answers:
            if answer not in taken:
                refused_for_now(answer)
        assert len(taken) < DOCUMENTS
        stored = await whole.rows("SELECT id FROM operation WHERE type = 'DOCUMENT_UPLOAD'")
        assert {answer.json()["data"]["operationId"] for answer in taken} == {operation for (operation,) in stored}
        assert [answer.status_code for answer in await reads_of(whole, space_id)] == [200, 200, 200, 404]
        assert any("full" in str(log) for log in logs)
    await disk.make_room()
    await post_all(whole, space_id, files)
    await whole.all_is_well(DOCUMENTS)


async def test_a_projector_without_room_gives_no_event_up(whole: Whole) -> None:
    space_id = await whole.space()
    files = await whole.files(DOCUMENTS)
    disk = Disk(whole.database)
    with capture_logs() as logs:
        await disk.fill()
        posting = asyncio.create_task(post_all(whole, space_id, files))
        await until(lambda: sum(log["event"] == "projector.reading.ended" for log in logs) >= 4)
        await disk.make_room()
        await posting
    await whole.all_is_well(DOCUMENTS)
    assert not [log for log in logs if log["log_level"] in {"error", "critical"}]
