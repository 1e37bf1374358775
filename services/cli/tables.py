"""Lists for people: every page, as one table."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import TypeVar

from rich import box
from rich.markup import escape
from rich.table import Table

from services.cli.console import answers
from shared.client.gateway import Page
from shared.contracts.body import Body

Item = TypeVar("Item", bound=Body)

ABSENT = "-"
WIDEST = 10_000


async def every(read_page: Callable[[int], Awaitable[Page[Item]]]) -> list[Item]:
    """The items of all pages; `read_page` is given the number of each."""
    items: list[Item] = []
    number, has_next = 1, True
    while has_next:
        page = await read_page(number)
        items.extend(page.items)
        number, has_next = number + 1, page.pagination.has_next
    return items


def show_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table in which nothing is cut off: an id that is cut names nothing.

    On a terminal long cells are folded; whoever reads a pipe gets one line for each row.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    console = answers()
    if not console.is_terminal:
        console.width = WIDEST
    console.print(table, soft_wrap=False)


def told_time(moment: datetime | None) -> str:
    """A time to the minute, in UTC."""
    return ABSENT if moment is None else f"{moment:%Y-%m-%d %H:%M} UTC"


def told_names(names: Sequence[str]) -> str:
    """Names with commas between."""
    return ", ".join(names) if names else ABSENT
