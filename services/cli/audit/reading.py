"""Reads the tenant's audit through the api: what comes next, or all of it."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import timedelta
from typing import Final

from shared.client.operating import Operating
from shared.contracts.operating import MOST_AUDIT_ENTRIES, AuditEntry

LOOK_EVERY: Final = timedelta(seconds=2)
"""Between two looks for what comes next. Each is an entry of the audit itself."""


async def entries_up_to_now(operating: Operating, after: int) -> AsyncGenerator[AuditEntry, None]:
    """Every entry behind a place up to where the chain ends at the first look."""
    page = await operating.read_audit(after, MOST_AUDIT_ENTRIES)
    end = page.last_seq
    while page.entries:
        for entry in page.entries:
            if entry.seq <= end:
                yield entry
        after = page.entries[-1].seq
        if after >= end:
            return
        page = await operating.read_audit(after, MOST_AUDIT_ENTRIES)


async def entries_as_they_come(
    operating: Operating, after: int, pause: Callable[[float], Awaitable[None]]
) -> AsyncGenerator[AuditEntry, None]:
    """Every entry behind a place, for ever."""
    while True:
        page = await operating.read_audit(after, MOST_AUDIT_ENTRIES)
        for entry in page.entries:
            yield entry
            after = entry.seq
        if len(page.entries) < MOST_AUDIT_ENTRIES:
            await pause(LOOK_EVERY.total_seconds())
