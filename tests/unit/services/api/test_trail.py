"""The audit trail of reads: nothing is lost while the database is away for a moment, or when the process stops."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count

from prometheus_client import CollectorRegistry

from services.api.audit.counting import MOST_KINDS, Allowed, Refused
from services.api.audit.trail import MOST_AT_ONCE, AuditTrail, Pace
from services.api.metrics import ApiMetrics
from shared.contracts.ids import SubjectId, TenantId
from shared.database.errors import UniqueViolation
from shared.domain.audit import Actor, AuditEntry, Origin, Outcome
from shared.domain.errors import StoreUnavailable
from tests.support.eventually import until

NOW = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
ORIGIN = Origin(actor=Actor.API)


class Book:
    """Keeps what is written; its first writes fail as told."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.batches: list[list[str]] = []
        self.entries: list[AuditEntry] = []

    async def write(self, entries: Sequence[AuditEntry]) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.batches.append([entry.id for entry in entries])
        self.entries.extend(entries)

    @property
    def ids(self) -> list[str]:
        return [entry_id for batch in self.batches for entry_id in batch]


def make_trail(book: Book, most_waiting: int = 10_000, *, counted_for: timedelta = timedelta(minutes=1)) -> AuditTrail:
    pace = Pace(
        gathered_for=timedelta(0), tried_again_after=timedelta(0), counted_for=counted_for, most_waiting=most_waiting
    )
    numbers = count(1)
    metrics = ApiMetrics(CollectorRegistry())
    return AuditTrail(book.write, metrics, lambda: NOW, lambda prefix: f"{prefix}_{next(numbers)}", pace=pace)


async def write_all(trail: AuditTrail, entries: int) -> None:
    """Note so many entries, then stop."""
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(trail.run())
        for _ in range(entries):
            await trail.note(ORIGIN, "read", Outcome.DONE)
        await trail.stop()


async def test_entries_are_written_in_their_order_and_in_bounded_batches() -> None:
    book = Book()

    await write_all(make_trail(book), MOST_AT_ONCE + 3)

    assert book.ids == [f"aud_{number}" for number in range(1, MOST_AT_ONCE + 4)]
    assert max(len(batch) for batch in book.batches) <= MOST_AT_ONCE


async def test_a_database_that_is_away_for_a_moment_loses_nothing() -> None:
    book = Book(StoreUnavailable(), ValueError("unforeseen"), StoreUnavailable())

    await write_all(make_trail(book), 5)

    assert book.ids == ["aud_1", "aud_2", "aud_3", "aud_4", "aud_5"]


async def test_what_a_lost_answer_had_written_already_is_not_written_twice() -> None:
    book = Book(UniqueViolation("audit_entry_pkey"), UniqueViolation("audit_entry_pkey"))

    await write_all(make_trail(book), 3)

    assert book.ids == ["aud_2", "aud_3"]


async def test_a_stop_does_not_wait_for_ever() -> None:
    book = Book(*[StoreUnavailable()] * 100)

    await write_all(make_trail(book), 1)

    assert book.ids == []


async def test_reads_wait_when_too_much_is_unwritten() -> None:
    book = Book()
    trail = make_trail(book, most_waiting=2)
    await trail.note(ORIGIN, "read", Outcome.DONE)
    await trail.note(ORIGIN, "read", Outcome.DONE)
    third = asyncio.create_task(trail.note(ORIGIN, "read", Outcome.DONE))
    await asyncio.sleep(0)
    assert not third.done()

    running = asyncio.create_task(trail.run())
    await third
    await trail.stop()
    await running

    assert len(book.ids) == 3


POLLS = Allowed(TenantId("acme"), SubjectId("alice"), "harness", "knowledge_operation_get")
LISTS = Allowed(TenantId("acme"), SubjectId("alice"), "harness", "knowledge_space_list")
GUESSES = Refused("192.0.2.7", "assertion_expired")


async def test_what_is_counted_becomes_one_entry_of_each_kind_in_the_stop() -> None:
    book = Book()
    trail = make_trail(book)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(trail.run())
        for kind in (POLLS, LISTS, POLLS, GUESSES, POLLS):
            await trail.count(kind)
        await trail.stop()

    polls, lists, guesses = book.entries
    since = "2031-05-06T07:08:09.000Z"
    assert (polls.action, polls.outcome, polls.tenant_id) == ("knowledge_operation_get", Outcome.DONE, "acme")
    assert polls.details == {"count": 3, "since": since}
    assert polls.origin.caller is not None
    assert (polls.origin.caller.subject, polls.origin.caller.service) == ("alice", "harness")
    assert (lists.action, lists.details) == ("knowledge_space_list", {"count": 1, "since": since})
    assert (guesses.action, guesses.outcome, guesses.tenant_id) == ("authentication", Outcome.REFUSED, None)
    assert guesses.details == {"reason": "assertion_expired", "source": "192.0.2.7", "count": 1, "since": since}


async def test_what_is_counted_is_told_every_minute() -> None:
    book = Book()
    trail = make_trail(book, counted_for=timedelta(milliseconds=20))
    running = asyncio.create_task(trail.run())

    await trail.count(POLLS)
    await until(lambda: len(book.entries) == 1)
    await trail.count(POLLS)
    await until(lambda: len(book.entries) == 2)
    await trail.stop()
    await running

    assert [entry.details["count"] for entry in book.entries] == [1, 1]


async def test_with_too_many_kinds_the_minute_ends_early() -> None:
    book = Book()
    trail = make_trail(book)
    running = asyncio.create_task(trail.run())

    for number in range(MOST_KINDS):
        await trail.count(Refused(f"192.0.2.{number}", "header_malformed"))
    await until(lambda: len(book.entries) == MOST_KINDS)
    await trail.stop()
    await running

    assert len(book.entries) == MOST_KINDS
