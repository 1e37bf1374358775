"""Reads, in one statement and so of one moment, what is known against a request's credentials."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from sqlalchemy import Connection

from shared.contracts.ids import TenantId
from shared.database.settings import SQLITE
from shared.database.sql import Parameter, run
from shared.database.tables.columns import from_microseconds, to_microseconds
from shared.database.translation import translated
from shared.domain.standing import Shown, Standing, TokenRecord

_IS_REVOKED = """EXISTS (
    SELECT 1 FROM revocation
    WHERE tenant_id = :tenant AND kind = '{kind}' AND value = :{value} AND issued_until >= :issued_at
)"""
_ASSERTION = _IS_REVOKED.format(kind="assertion", value="digest")
_SESSION = _IS_REVOKED.format(kind="session", value="session")
_SUBJECT = _IS_REVOKED.format(kind="subject", value="subject")

_STANDING = f"""
SELECT
    EXISTS (
        SELECT 1 FROM account WHERE tenant_id = :tenant AND subject = :subject AND status = 'DISABLED'
    ) AS is_disabled,
    ({_ASSERTION} OR {_SESSION} OR {_SUBJECT}) AS is_revoked
"""  # noqa: S608 - constants
_WITH_TOKEN = f"""{_STANDING},
    token.tenant_id, token.service, token.sha256, token.expires_at, token.revoked_at
FROM (SELECT 1 AS asked) AS request LEFT JOIN service_token AS token ON token.id = :token
"""


def read_standing(conn: Connection, shown: Shown) -> Standing:
    """Whether account, assertion, session and subject are still good, and the token's record if one was named."""
    params: dict[str, Parameter] = {
        "tenant": shown.tenant,
        "subject": shown.subject,
        "session": shown.session_id,
        "digest": shown.assertion_digest,
        "issued_at": to_microseconds(shown.issued_at),
    }
    if shown.token_id is None:
        is_disabled, is_revoked = _fetch(conn, _STANDING, params)
        return Standing(is_disabled=bool(is_disabled), is_revoked=bool(is_revoked))
    params["token"] = shown.token_id
    is_disabled, is_revoked, *token = _fetch(conn, _WITH_TOKEN, params)
    return Standing(is_disabled=bool(is_disabled), is_revoked=bool(is_revoked), token=_record(*token))


def _fetch(conn: Connection, text: str, params: Mapping[str, Parameter]) -> Sequence[Any]:
    """The only row. On SQLite it is asked of the driver: around so short a read, which comes with every request,
    SQLAlchemy's handling of statements and results would take five times as long as the read itself.
    """
    if conn.dialect.name != SQLITE:
        return run(conn, text, **params).one()
    try:
        with closing(conn.connection.cursor()) as cursor:
            cursor.execute(text, params)
            rows: Sequence[Sequence[Any]] = cursor.fetchall()
            return rows[0]
    except sqlite3.Error as error:
        raise translated(error) from error


def _record(
    tenant: str | None, service: str, digest: str, expires_at: int | None, revoked_at: int | None
) -> TokenRecord | None:
    if tenant is None:
        return None
    return TokenRecord(
        tenant=TenantId(tenant),
        service=service,
        digest=digest,
        expires_at=from_microseconds(expires_at),
        revoked_at=from_microseconds(revoked_at),
    )
