"""PostgreSQL dies in the middle of everything, refuses commits, and breaks transactions off: nothing is lost by it."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from shared.contracts.enums import OperationStatus
from shared.database.database import Database
from shared.database.migrate import upgrade
from shared.database.settings import DatabaseSettings
from tests.integration.api.harness import running_gateway
from tests.integration.database.dropping_proxy import DroppingProxy
from tests.integration.database.trouble import (
    Whole,
    document_request,
    post_all,
    reads_of,
    refused_for_now,
    whole_at,
)
from tests.integration.services.worker.works import works_at
from tests.support.eventually import until
from tests.support.messaging import messaging_settings
from tests.support.postgres import LocalPostgres
from tests.support.worker import Place

Opener = Callable[[DatabaseSettings], Database]

DOCUMENTS = 40


@pytest.fixture
def mortal() -> Iterator[LocalPostgres]:
    """A server of the test's own."""
    with LocalPostgres() as server:
        yield server


def killed(server: LocalPostgres) -> None:
    server.kill()


def shut_down_at_once(server: LocalPostgres) -> None:
    assert server._child is not None
    server._child.stop(within=timedelta(seconds=10), by=signal.SIGQUIT)


async def test_a_server_that_dies_twice_in_the_middle_of_everything_loses_nothing(
    mortal: LocalPostgres, tmp_path: Path, nats_url: str
) -> None:
    settings = DatabaseSettings(url=SecretStr(mortal.create_database("gateway")), readers=2)
    upgrade(settings)
    async with whole_at(settings, tmp_path, nats_url) as whole:
        space_id = await whole.space()
        files = await whole.files(DOCUMENTS)
        posting = asyncio.create_task(post_all(whole, space_id, files))
        for number, end in ((DOCUMENTS // 4, killed), (DOCUMENTS // 2, shut_down_at_once)):
            await documents_there(whole, number)
            await asyncio.to_thread(end, mortal)
            for answer in await reads_of(whole, space_id):
                refused_for_now(answer)
            refused = whole.refused
            await until(lambda refused=refused: whole.refused > refused)  # type: ignore[misc]
            await asyncio.to_thread(mortal.start)
        operations = await posting
        assert len(set(operations)) == DOCUMENTS
        await whole.all_is_well(DOCUMENTS)
        assert [answer.status_code for answer in await reads_of(whole, space_id)] == [200, 200, 200, 404]
        stored = await whole.rows("SELECT id FROM operation WHERE type = 'DOCUMENT_UPLOAD'")
        assert {operation for (operation,) in stored} == set(operations)
        assert await whole.rows("SELECT holder FROM lease WHERE name = 'projector'") == [("one",)]


async def documents_there(whole: Whole, number: int) -> None:
    async with asyncio.timeout(60):
        while (await whole.rows("SELECT count(*) FROM document"))[0][0] < number:  # type: ignore[operator]  # noqa: ASYNC110
            await asyncio.sleep(0.005)


# --- transactions that are broken off ---------------------------------------------------------------

MAKE_TROUBLE = """
CREATE TABLE trouble (code text NOT NULL);
CREATE FUNCTION make_trouble() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE found text;
BEGIN
    SELECT code INTO found FROM trouble LIMIT 1;
    IF found = 'kill' THEN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(0.1); END IF;
    IF found IS NOT NULL AND found <> 'kill' THEN RAISE EXCEPTION 'trouble' USING ERRCODE = found; END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER trouble_in_moves AFTER UPDATE ON operation FOR EACH ROW EXECUTE FUNCTION make_trouble();
CREATE CONSTRAINT TRIGGER trouble_at_commit AFTER INSERT ON operation
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION make_trouble();
"""
END_TROUBLE = "DROP TABLE trouble; DROP FUNCTION make_trouble() CASCADE"


class Troublemaker:
    """Has every move of an operation, and every commit of a new one, fail with an error of the database's own."""

    def __init__(self, settings: DatabaseSettings) -> None:
        self._address = settings.address.set(drivername="postgresql").render_as_string(hide_password=False)

    def begin(self, code: str) -> None:
        """From now on; `code` is an SQLSTATE, or `kill` for an end of the session."""
        self.execute(f"INSERT INTO trouble VALUES ('{code}')")  # noqa: S608 - our own codes

    def end(self) -> None:
        """No longer."""
        self.execute("DELETE FROM trouble")

    def execute(self, text: str) -> None:
        """Run statements outside of everything."""
        with psycopg.connect(self._address) as connection:
            connection.execute(text.encode())


@pytest.fixture
def trouble(postgresql: DatabaseSettings) -> Iterator[Troublemaker]:
    troublemaker = Troublemaker(postgresql)
    troublemaker.execute(MAKE_TROUBLE)
    yield troublemaker
    troublemaker.execute(END_TROUBLE)


FAILURES_SEEN = 4
"""One more than an event may have of its own."""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("40001", id="serialisation failure"),
        pytest.param("40P01", id="deadlock"),
        pytest.param("55P03", id="lock timeout"),
        pytest.param("57014", id="statement timeout"),
        pytest.param("53100", id="disk full"),
        pytest.param("53200", id="out of memory"),
        pytest.param("58030", id="broken disk"),
        pytest.param("kill", id="connection lost"),
    ],
)
async def test_the_projector_never_takes_the_databases_trouble_for_an_events_own(
    trouble: Troublemaker, postgresql: DatabaseSettings, opened: Opener, nats_url: str, tmp_path: Path, code: str
) -> None:
    place = Place(root=tmp_path, messaging=messaging_settings(nats_url))
    with capture_logs() as logs:
        async with works_at(place, opened(postgresql)) as works:
            space_id = await works.space()
            trouble.begin(code)
            resource = await works.file()
            trouble.end()
            accepted = await works.bench.upload_resource(space_id, resource)
            trouble.begin(code)
            await until(
                lambda: sum(log["event"] == "projector.reading.ended" for log in logs) >= FAILURES_SEEN,
                within=timedelta(seconds=40),
            )
            trouble.end()
            operation = await works.ended(accepted.work.operation.id)
            assert (operation.status, operation.retry_count) == (OperationStatus.SUCCEEDED, 0)
            await works.at_rest()
            assert await works.bench.rows("SELECT count(*) FROM dead_letter") == [(0,)]


@pytest.mark.parametrize("code", ["53100", "kill"])
async def test_a_commit_that_fails_is_no_acceptance_and_its_repetition_is_one(
    trouble: Troublemaker, postgresql: DatabaseSettings, tmp_path: Path, code: str
) -> None:
    async with running_gateway(postgresql, tmp_path) as gateway:
        space_id = await gateway.make_space()
        file = (await gateway.upload("a.txt", b"Some text.")).json()["data"]["fileResourceId"]
        path, body = f"/spaces/{space_id}/documents", document_request(file, 1)
        trouble.begin(code)
        refused_for_now(await gateway.post(path, body, key="once"))
        trouble.end()
        assert (await gateway.get(path)).json()["data"]["items"] == []
        accepted = await gateway.post(path, body, key="once")
        assert accepted.status_code == 202
        assert "x-idempotent-replay" not in accepted.headers
        assert len((await gateway.get(path)).json()["data"]["items"]) == 1


async def test_a_commit_whose_answer_is_lost_is_found_again_by_its_key(
    postgresql: DatabaseSettings, tmp_path: Path
) -> None:
    address = postgresql.address
    async with DroppingProxy(str(address.host), int(address.port or 0)) as proxy:
        through = address.set(host="127.0.0.1", port=proxy.port).render_as_string(hide_password=False)
        settings = postgresql.model_copy(update={"url": SecretStr(through), "writers": 1})
        async with running_gateway(settings, tmp_path) as gateway:
            space_id = await gateway.make_space()
            file = (await gateway.upload("a.txt", b"Some text.")).json()["data"]["fileResourceId"]
            path, body = f"/spaces/{space_id}/documents", document_request(file, 1)
            proxy.drop_answer_to(b"COMMIT", after=b"INSERT INTO operation")
            refused_for_now(await gateway.post(path, body, key="once"))
            assert proxy.dropped == 1
            again = await gateway.post(path, body, key="once")
            assert again.status_code == 202
            assert again.headers["x-idempotent-replay"] == "true"
            assert len((await gateway.get(path)).json()["data"]["items"]) == 1
