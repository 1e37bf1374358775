"""Answers kept under keys: one transaction does the work, the others repeat what it answered."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace

from sqlalchemy import Connection

from shared.contracts.ids import SubjectId, TenantId
from shared.database.database import Database
from shared.database.idempotency import (
    RESERVED,
    RequestKey,
    StoredAnswer,
    complete_answer,
    find_answer,
    forget_answers,
    reserve_answer,
)
from shared.database.settings import DatabaseSettings
from tests.integration.database.samples import NOW, after, wait_for_a_waiter

KEY = RequestKey(tenant_id=TenantId("acme"), subject=SubjectId("alice"), route="POST /documents", key="k-1")
UNFINISHED = StoredAnswer(
    tenant_id=KEY.tenant_id,
    subject=KEY.subject,
    route=KEY.route,
    key=KEY.key,
    request_digest="d1",
    status_code=RESERVED,
    data="{}",
    created_at=NOW,
    expires_at=after(60),
)
ANSWER = replace(UNFINISHED, status_code=202, data='{"operationId":"op_1","name":"泵 \\"x\\""}')


def answer(conn: Connection) -> StoredAnswer | None:
    """What a request does: the work, unless it was done."""
    kept = reserve_answer(conn, UNFINISHED)
    if kept is None:
        complete_answer(conn, ANSWER)
    return kept


def test_the_first_does_the_work_and_the_second_gets_its_answer(database: Database) -> None:
    assert database.write_blocking(answer) is None
    assert database.write_blocking(answer) == ANSWER
    assert database.read_blocking(lambda conn: find_answer(conn, KEY, NOW)) == ANSWER


def test_keys_of_other_tenants_subjects_and_routes_are_other_keys(database: Database) -> None:
    database.write_blocking(answer)
    others = (
        replace(KEY, tenant_id=TenantId("other")),
        replace(KEY, subject=SubjectId("bob")),
        replace(KEY, route="DELETE /documents"),
        replace(KEY, key="k-2"),
    )
    for other in others:
        assert database.read_blocking(lambda conn, other=other: find_answer(conn, other, NOW)) is None  # type: ignore[misc]


def test_an_expired_answer_is_none_and_its_key_is_free_again(database: Database) -> None:
    database.write_blocking(answer)
    assert database.read_blocking(lambda conn: find_answer(conn, KEY, after(60))) is None
    later = replace(UNFINISHED, created_at=after(60), expires_at=after(120))
    assert database.write_blocking(lambda conn: reserve_answer(conn, later)) is None


def test_expired_answers_are_forgotten(database: Database) -> None:
    database.write_blocking(answer)
    assert database.write_blocking(lambda conn: forget_answers(conn, after(59), limit=10)) == 0
    assert database.write_blocking(lambda conn: forget_answers(conn, after(60), limit=10)) == 1


def test_work_that_was_refused_leaves_its_key_free(database: Database) -> None:
    class Refused(Exception):
        pass

    def refuse(conn: Connection) -> None:
        reserve_answer(conn, UNFINISHED)
        raise Refused

    try:
        database.write_blocking(refuse)
    except Refused:
        assert database.write_blocking(answer) is None


async def test_on_postgresql_a_second_request_waits_for_the_first_ones_answer(
    postgresql: DatabaseSettings, opened: Callable[[DatabaseSettings], Database]
) -> None:
    database = opened(postgresql)
    is_in, may_go = threading.Event(), threading.Event()

    def work(conn: Connection) -> StoredAnswer | None:
        kept = reserve_answer(conn, UNFINISHED)
        is_in.set()
        assert may_go.wait(10)
        complete_answer(conn, ANSWER)
        return kept

    first = asyncio.ensure_future(database.write(work))
    await asyncio.to_thread(is_in.wait, 10)
    second = asyncio.ensure_future(database.write(answer))
    await asyncio.to_thread(wait_for_a_waiter, database)
    may_go.set()
    assert await first is None
    assert await second == ANSWER
