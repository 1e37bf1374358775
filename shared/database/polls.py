"""The read that is asked for more often than all others together: one operation, authorised.

It finds what `listings.visible_operation` finds. Its statement is compiled once with the columns that it returns,
because SQLAlchemy takes longer to find them out each time than SQLite takes to find the row.
"""

import re
from collections.abc import Collection
from functools import cache

import orjson
from sqlalchemy import Connection, TextualSelect, column, text

from shared.contracts.ids import OperationId
from shared.database.operations import OPERATION_CODEC
from shared.database.predicate import DOCUMENT_VISIBLE, reach_parameters
from shared.database.settings import SQLITE
from shared.domain.authorization import Reach
from shared.domain.operation import Operation

_AMONG = re.compile(r"\bAMONG :(\w+)")
_LISTS = {True: r"IN (SELECT value FROM json_each(:\1))", False: r"= ANY(CAST(:\1 AS text[]))"}
"""By whether it is SQLite: how a value is compared with a list of texts that is one parameter."""

_TEXT = f"""
SELECT {", ".join(f"operation.{name}" for name in OPERATION_CODEC.columns)}
FROM operation CROSS JOIN space LEFT JOIN document ON document.id = operation.document_id
WHERE operation.id = :id AND space.id = operation.space_id AND {DOCUMENT_VISIBLE}
"""  # noqa: S608 - names of ours only


def poll_operation(conn: Connection, reach: Reach, operation_id: OperationId) -> Operation | None:
    """The operation, when the caller may see what it is about; that may be DELETED by now."""
    is_sqlite = conn.dialect.name == SQLITE
    given: dict[str, object] = {"id": operation_id}
    for name, value in reach_parameters(reach).items():
        is_list = isinstance(value, Collection) and not isinstance(value, str | bytes)
        given[name] = orjson.dumps(value).decode() if is_list and is_sqlite else value
    row = conn.execute(_statement(is_sqlite), given).first()
    return None if row is None else OPERATION_CODEC.read([row])[0]


@cache
def _statement(is_sqlite: bool) -> TextualSelect:
    columns = [column(name) for name in OPERATION_CODEC.columns]
    return text(_AMONG.sub(_LISTS[is_sqlite], _TEXT)).columns(*columns)
