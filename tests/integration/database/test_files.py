"""Stored files: one live one per tenant and content, kept while something names it, and gone only then."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from shared.contracts.enums import VersionStatus
from shared.contracts.ids import FileId, FileResourceId, SubjectId, TenantId
from shared.database.database import Database
from shared.database.files import (
    FileResource,
    StoredFile,
    adopt_or_insert_file,
    delete_files,
    expired_resources,
    forget_resources,
    insert_resource,
    load_files,
    load_resource,
    mark_purging,
)
from shared.database.settings import DatabaseSettings
from shared.database.tables.files import FileStatus
from shared.database.versions import save_versions
from tests.integration.database.samples import (
    NOW,
    TENANT,
    a_version,
    after,
    store_served,
    wait_for_a_waiter,
)


def a_file(file_id: str = "fil_1", **changes: Any) -> StoredFile:
    """A stored file; its object key is made of its id."""
    file = StoredFile(
        id=FileId(file_id),
        tenant_id=TENANT,
        sha256="a" * 64,
        size=5_000_000_000,
        object_key=f"objects/{file_id}",
        created_at=NOW,
    )
    return replace(file, **changes)


def a_resource(resource_id: str = "frs_1", file_id: str = "fil_1", **changes: Any) -> FileResource:
    """Alice's resource of a file, for an hour."""
    resource = FileResource(
        id=FileResourceId(resource_id),
        tenant_id=TENANT,
        subject=SubjectId("alice"),
        file_id=FileId(file_id),
        file_name="../böse 😈.pdf",
        content_type="application/pdf",
        created_at=NOW,
        expires_at=after(3600),
    )
    return replace(resource, **changes)


def store(database: Database, file: StoredFile, *resources: FileResource) -> StoredFile:
    """Store a file with resources of it."""

    def work(conn: Connection) -> StoredFile:
        kept = adopt_or_insert_file(conn, file)
        for resource in resources:
            insert_resource(conn, resource)
        return kept

    return database.write_blocking(work)


def purge(database: Database, *file_ids: str, seconds: float = 0) -> list[str]:
    """Mark as PURGING what may be."""
    marked = database.write_blocking(lambda conn: mark_purging(conn, file_ids, after(seconds)))
    assert all(file.status is FileStatus.PURGING for file in marked)
    return [file.id for file in marked]


def find(database: Database, subject: str = "alice", tenant: str = "acme", seconds: float = 0) -> object:
    """The resource frs_1 with its file, as this caller sees it then."""
    return database.write_blocking(
        lambda conn: load_resource(conn, TenantId(tenant), SubjectId(subject), FileResourceId("frs_1"), after(seconds))
    )


def test_a_twin_adopts_the_file_that_is_there(database: Database) -> None:
    first, twin = a_file("fil_1"), a_file("fil_2")
    assert store(database, first) == first
    assert store(database, twin) == first
    assert database.read_blocking(lambda conn: load_files(conn, ["fil_1", "fil_2"])) == {"fil_1": first}


def test_other_bytes_and_other_tenants_have_files_of_their_own(database: Database) -> None:
    store(database, a_file("fil_1"))
    others = (a_file("fil_2", sha256="b" * 64), a_file("fil_3", tenant_id=TenantId("other")))
    assert [store(database, file) for file in others] == list(others)


def test_a_resource_is_found_by_its_uploader_until_it_expires(database: Database) -> None:
    store(database, a_file(), a_resource())
    assert find(database, seconds=3599) == (a_resource(), a_file())
    assert find(database, seconds=3600) is None
    assert find(database, subject="bob") is None
    assert find(database, tenant="other") is None


def test_a_file_that_an_unexpired_resource_names_is_kept(database: Database) -> None:
    store(database, a_file(), a_resource())
    assert purge(database, "fil_1", seconds=3599) == []
    assert purge(database, "fil_1", "fil_absent", seconds=3600) == ["fil_1"]
    assert purge(database, "fil_1", seconds=3600) == []
    assert purge(database) == []


def test_a_file_is_kept_until_every_version_of_it_is_deleted(database: Database) -> None:
    store(database, a_file())
    database.write_blocking(lambda conn: store_served(conn, 1, 2))
    one, two = a_version("ver_1", "doc_1"), a_version("ver_2", "doc_2")
    gone = replace(one, status=VersionStatus.DELETED)
    cancelled = replace(two, status=VersionStatus.CANCELLED)
    database.write_blocking(lambda conn: save_versions(conn, [gone, cancelled]))
    assert purge(database, "fil_1") == []
    database.write_blocking(lambda conn: save_versions(conn, [replace(two, status=VersionStatus.DELETED)]))
    assert purge(database, "fil_1") == ["fil_1"]


def test_nothing_adopts_a_file_that_is_going(database: Database) -> None:
    store(database, a_file("fil_1"), a_resource(expires_at=NOW))
    purge(database, "fil_1")
    again = a_file("fil_2")
    assert store(database, again) == again
    assert find(database) is None


def test_only_a_file_that_is_going_is_deleted_and_its_old_resources_with_it(database: Database) -> None:
    store(database, a_file("fil_1"), a_resource("frs_1", expires_at=NOW))
    store(database, a_file("fil_2", sha256="b" * 64), a_resource("frs_2", "fil_2"))
    purge(database, "fil_1")
    database.write_blocking(lambda conn: delete_files(conn, ["fil_1", "fil_2"]))
    assert set(database.read_blocking(lambda conn: load_files(conn, ["fil_1", "fil_2"]))) == {"fil_2"}
    database.write_blocking(lambda conn: delete_files(conn, []))


def test_expired_resources_are_listed_and_forgotten(database: Database) -> None:
    expired = [a_resource(f"frs_{number}", expires_at=after(-number)) for number in (1, 2, 3)]
    store(database, a_file(), *expired, a_resource("frs_4"))
    assert database.read_blocking(lambda conn: expired_resources(conn, NOW, limit=2)) == [expired[2], expired[1]]
    for resource_ids in ([], ["frs_1", "frs_3"]):
        database.write_blocking(lambda conn, ids=resource_ids: forget_resources(conn, ids))  # type: ignore[misc]
    assert database.read_blocking(lambda conn: expired_resources(conn, NOW, limit=9)) == [expired[1]]


async def test_on_postgresql_who_is_about_to_name_a_file_and_who_purges_it_do_not_miss_each_other(
    postgresql: DatabaseSettings, opened: Callable[[DatabaseSettings], Database]
) -> None:
    database = opened(postgresql)
    await database.write(lambda conn: adopt_or_insert_file(conn, a_file("fil_1")))
    is_in, may_go = threading.Event(), threading.Event()

    def adopt(conn: Connection) -> FileId:
        kept = adopt_or_insert_file(conn, a_file("fil_2"))
        is_in.set()
        assert may_go.wait(10)
        insert_resource(conn, a_resource("frs_1", kept.id))
        return kept.id

    adopting = asyncio.ensure_future(database.write(adopt))
    await asyncio.to_thread(is_in.wait, 10)
    purging = asyncio.ensure_future(database.write(lambda conn: mark_purging(conn, ["fil_1"], NOW)))
    await asyncio.to_thread(wait_for_a_waiter, database)
    may_go.set()
    assert await adopting == "fil_1"
    assert await purging == []
