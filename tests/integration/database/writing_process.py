"""A process of its own that writes one row after another and prints the id of each once it is committed.

Each write first reads what is there, so a transaction that did not begin with the right to write would fail.
"""

import sys
import time

from pydantic import SecretStr
from sqlalchemy import Connection

from shared.database.database import open_database
from shared.database.operations import insert_operations, load_operations
from shared.database.settings import DatabaseSettings
from tests.integration.database.samples import an_operation


def main(url: str, name: str, number: int) -> None:
    """Write `number` operations called after `name`; the last line is the longest wait in milliseconds."""
    database = open_database(DatabaseSettings(url=SecretStr(url)))
    longest = 0.0
    for index in range(number):
        operation = an_operation(f"op_{name}_{index:05}", None)

        def write(conn: Connection) -> None:
            assert load_operations(conn, [operation.id]) == {}  # noqa: B023 - it is run before the next one is made
            insert_operations(conn, [operation])  # noqa: B023

        began = time.monotonic()
        database.write_blocking(write)
        longest = max(longest, time.monotonic() - began)
        sys.stdout.write(f"{operation.id}\n")
        sys.stdout.flush()
    sys.stdout.write(f"longest {longest * 1000:.1f}\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
