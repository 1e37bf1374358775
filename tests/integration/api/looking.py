"""What the audit says of one resource, for tests."""

import json

from sqlalchemy import Connection

from shared.database.sql import run
from tests.integration.api.harness import Gateway

Told = tuple[str, str | None, str | None, dict[str, object]]


async def moves(gateway: Gateway, resource_id: str) -> list[Told]:
    """The moves that callers asked for: action, before, after and details, in their order."""

    def read(conn: Connection) -> list[Told]:
        text = "SELECT action, before, after, details FROM audit_entry WHERE resource_id = :id ORDER BY at, id"
        rows = run(conn, text, id=resource_id).all()
        told = [(str(row[0]), row[1], row[2], _details(row[3])) for row in rows]
        return [entry for entry in told if entry[0].isupper()]

    return await gateway.parts.database.read(read)


def _details(cell: object) -> dict[str, object]:
    found: dict[str, object] = json.loads(cell) if isinstance(cell, str) else dict(cell)  # type: ignore[call-overload]
    return found
