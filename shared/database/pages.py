"""Pages of one table: the rows of a page and the number of all, of one moment."""

from sqlalchemy import Connection, Table

from shared.database.rows import Rows
from shared.database.sql import Parameter, run, selected


def read_page(
    conn: Connection,
    table: Table,
    columns: tuple[str, ...],
    condition: str,
    *,
    order: tuple[str, ...],
    page: int,
    page_size: int,
    newest_first: bool = False,
    **params: Parameter,
) -> tuple[Rows, int]:
    """The page's rows in `order`, whose first column is never null, and how many rows fulfil the condition.

    `newest_first` turns the order round.
    """
    way = " DESC" if newest_first else ""
    chosen = f"FROM {table.name} WHERE {condition}"
    wanted = selected(conn.dialect.name, table, columns)
    text = f"""
        SELECT page.*, total.number FROM (SELECT count(*) AS number {chosen}) AS total
        LEFT JOIN (
            SELECT {wanted} {chosen} ORDER BY {", ".join(f"{name}{way}" for name in order)} LIMIT :size OFFSET :skip
        ) AS page ON true
        ORDER BY {", ".join(f"page.{name}{way}" for name in order)}
    """  # noqa: S608 - names of ours only
    rows = run(conn, text, size=page_size, skip=(page - 1) * page_size, **params).all()
    first = columns.index(order[0])
    return [row[:-1] for row in rows if row[first] is not None], int(rows[0][-1])
