"""Resumable uploads as rows: they move on by compare-and-set, and what is over is found and forgotten."""

import asyncio
from dataclasses import replace
from datetime import timedelta

from shared.contracts.ids import FileResourceId, SubjectId, TenantId, UploadId
from shared.database.database import Database
from shared.database.uploads import (
    Upload,
    UploadPart,
    add_parts,
    complete_upload,
    end_upload_now,
    forget_parts,
    forget_upload,
    insert_upload,
    load_upload,
    parts_of,
    uploads_to_clear,
)
from tests.integration.database.samples import NOW, TENANT, after

ALICE = SubjectId("alice")


def an_upload(upload_id: str = "upl_1", seconds: float = 3600) -> Upload:
    """Alice's upload of five billion bytes."""
    return Upload(
        id=UploadId(upload_id),
        tenant_id=TENANT,
        subject=ALICE,
        file_name="böse 😈.pdf",
        length=5_000_000_000,
        created_at=NOW,
        expires_at=after(seconds),
    )


def a_part(starts_at: int, size: int, upload_id: str = "upl_1", key: str = "") -> UploadPart:
    """A part; its object key tells its place unless it is given."""
    object_key = key or f"objects/{upload_id}-{starts_at}"
    return UploadPart(upload_id=UploadId(upload_id), starts_at=starts_at, size=size, object_key=object_key)


async def begun(database: Database, *uploads: Upload) -> None:
    for upload in uploads:
        await database.write(lambda conn, new=upload: insert_upload(conn, new))  # type: ignore[misc]


async def add(database: Database, upload: Upload, *parts: UploadPart, seconds: float = 0) -> bool:
    now, expires_at = after(seconds), after(seconds) + timedelta(hours=1)
    return await database.write(lambda conn: add_parts(conn, upload, parts, now=now, expires_at=expires_at))


async def find(
    database: Database, seconds: float = 0, tenant: TenantId = TENANT, subject: SubjectId = ALICE
) -> Upload | None:
    return await database.read(lambda conn: load_upload(conn, tenant, subject, UploadId("upl_1"), after(seconds)))


async def to_clear(database: Database, seconds: float = 0, limit: int = 10) -> list[str]:
    return list(await database.read(lambda conn: uploads_to_clear(conn, after(seconds), limit=limit)))


async def test_an_upload_is_there_for_its_uploader_until_it_expires(database: Database) -> None:
    await begun(database, an_upload())

    assert await find(database) == an_upload()
    assert await find(database, seconds=3599) == an_upload()
    assert await find(database, seconds=3600) is None
    assert await find(database, subject=SubjectId("bob")) is None
    assert await find(database, tenant=TenantId("other")) is None


async def test_parts_follow_each_other_and_put_the_end_off(database: Database) -> None:
    await begun(database, an_upload())
    assert await add(database, an_upload(), a_part(0, 3_000_000_000), seconds=1800)
    further = await find(database)
    assert further == replace(an_upload(), received=3_000_000_000, expires_at=after(5400))

    assert await add(database, further, a_part(3_000_000_000, 1), a_part(3_000_000_001, 1))

    parts = await database.read(lambda conn: parts_of(conn, UploadId("upl_1")))
    assert [(part.starts_at, part.size) for part in parts] == [
        (0, 3_000_000_000),
        (3_000_000_000, 1),
        (3_000_000_001, 1),
    ]


async def test_of_many_that_go_on_from_the_same_place_one_does(database: Database) -> None:
    await begun(database, an_upload())

    results = await asyncio.gather(
        *(add(database, an_upload(), a_part(0, 10, key=f"objects/{number}")) for number in range(5))
    )

    assert sorted(results) == [False, False, False, False, True]
    assert len(await database.read(lambda conn: parts_of(conn, UploadId("upl_1")))) == 1


async def test_nothing_is_added_to_an_upload_that_is_over_or_has_become_a_file(database: Database) -> None:
    await begun(database, an_upload("upl_1"), an_upload("upl_2"), an_upload("upl_3"))
    await database.write(lambda conn: end_upload_now(conn, UploadId("upl_1"), NOW))
    await database.write(
        lambda conn: complete_upload(conn, UploadId("upl_2"), FileResourceId("frs_1"), expires_at=after(9999))
    )

    assert not await add(database, an_upload("upl_1"), a_part(0, 1, "upl_1"))
    assert not await add(database, an_upload("upl_2"), a_part(0, 1, "upl_2"))
    assert not await add(database, an_upload("upl_3"), a_part(0, 1, "upl_3"), seconds=3600)
    assert not await add(database, an_upload("upl_absent"), a_part(0, 1, "upl_absent"))


async def test_what_has_to_be_cleared_is_found_the_longest_expired_first(database: Database) -> None:
    await begun(database, *(an_upload(f"upl_{number}", seconds=number) for number in (3, 1, 2, 9)))
    assert await to_clear(database, seconds=3) == ["upl_1", "upl_2", "upl_3"]
    assert await to_clear(database, seconds=3, limit=2) == ["upl_1", "upl_2"]

    await add(database, an_upload("upl_9", seconds=9), a_part(0, 5, "upl_9"))
    await database.write(
        lambda conn: complete_upload(conn, UploadId("upl_9"), FileResourceId("frs_1"), expires_at=after(9999))
    )
    assert await to_clear(database) == ["upl_9"]

    await database.write(lambda conn: forget_parts(conn, UploadId("upl_9"), ["objects/upl_9-0"]))
    assert await to_clear(database) == []


async def test_an_upload_goes_when_it_is_over_and_its_last_part_is_gone(database: Database) -> None:
    await begun(database, an_upload())
    await add(database, an_upload(), a_part(0, 5))

    async def forget(seconds: float) -> list[str]:
        await database.write(lambda conn: forget_upload(conn, UploadId("upl_1"), after(seconds)))
        return await to_clear(database, seconds=10_000)

    assert await forget(7200) == ["upl_1"]
    await database.write(lambda conn: forget_parts(conn, UploadId("upl_1"), ["objects/another"]))
    assert await forget(7200) == ["upl_1"]
    await database.write(lambda conn: forget_parts(conn, UploadId("upl_1"), ["objects/upl_1-0"]))
    assert await forget(3599) == ["upl_1"]
    assert await forget(7200) == []
