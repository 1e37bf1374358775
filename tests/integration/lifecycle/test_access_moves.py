"""The moves of those who manage access, on both databases: what they keep, and what the audit is told."""

import json
from dataclasses import replace
from typing import Any

import pytest

from shared.auth.service_tokens import NewToken
from shared.contracts.admin import AccountPutRequest, ServiceTokenRequest
from shared.contracts.enums import AccountStatus, Action, RevocationKind
from shared.contracts.ids import DocumentId, SpaceId, SubjectId
from shared.database.accounts import load_account
from shared.database.database import Database
from shared.database.sql import run
from shared.domain.errors import Forbidden, NotFound
from shared.domain.identity import Caller
from shared.lifecycle.accounts import note_account, put_account, switch_account
from shared.lifecycle.grant_access import grant_access
from shared.lifecycle.request import Request
from shared.lifecycle.revoke_access import revoke_access
from shared.lifecycle.revoke_assertions import revoke_assertions
from shared.lifecycle.service_tokens import create_service_token, revoke_service_token
from shared.lifecycle.surroundings import Surroundings
from tests.integration.database.samples import EDITORS, NOW, TENANT, after, store_served

ROOT = Caller(
    tenant=TENANT,
    subject=SubjectId("root"),
    roles=("admin",),
    domains=("public",),
    session_id="session-1",
    service="harness",
)
REQUEST = Request(
    caller=ROOT,
    roles={"admin": frozenset(Action)},
    traceparent="00-" + "1" * 32 + "-" + "2" * 16 + "-01",
    request_id="request-1",
    tool_call_id="call-1",
)
NOBODY = replace(REQUEST, roles={})
AROUND = Surroundings(clock=lambda: NOW)
LATER = Surroundings(clock=lambda: after(60))
SPACE, DOCUMENT, ERIN = SpaceId("spc_1"), DocumentId("doc_1"), SubjectId("erin")
MEMBERSHIPS = AccountPutRequest(groups=("editors",), roles=("knowledge-reader",), domains=("public",))
TOKEN = NewToken(id="kgt_1", text="kgt_1." + "s" * 43)


def audited(database: Database, action: str) -> list[dict[str, Any]]:
    columns = ("subject", "outcome", "resource_id", "before", "after", "details")
    text = f"SELECT subject, outcome, resource_id, before, after, details FROM audit_entry WHERE action = '{action}'"  # noqa: S608
    rows = database.read_blocking(lambda conn: run(conn, f"{text} ORDER BY at, id").all())
    found = [dict(zip(columns, row, strict=True)) for row in rows]
    return [
        entry | {"details": json.loads(entry["details"]) if isinstance(entry["details"], str) else entry["details"]}
        for entry in found
    ]


def test_an_account_is_managed_disabled_and_enabled(database: Database) -> None:
    put = database.write_blocking(lambda conn: put_account(conn, ERIN, MEMBERSHIPS, REQUEST, AROUND)).kept
    assert (put.is_managed, put.groups, put.status) == (True, ("editors",), AccountStatus.ACTIVE)

    for enabled, status in (
        (False, AccountStatus.DISABLED),
        (False, AccountStatus.DISABLED),
        (True, AccountStatus.ACTIVE),
    ):
        switched = database.write_blocking(
            lambda conn, enabled=enabled: switch_account(  # type: ignore[misc]
                conn, ERIN, enabled=enabled, reason="why", request=REQUEST, around=LATER
            )
        ).kept
        assert (switched.status, switched.groups, switched.is_managed) == (status, ("editors",), True)

    assert [(entry["before"], entry["after"]) for entry in audited(database, "ACCOUNT_DISABLE")] == [
        ("ACTIVE", "DISABLED"),
        ("DISABLED", "DISABLED"),
    ]
    (entry,) = audited(database, "ACCOUNT_ENABLE")
    assert (entry["subject"], entry["resource_id"], entry["details"]) == ("root", "erin", {"reason": "why"})


def test_noting_follows_assertions_until_the_account_is_managed(database: Database) -> None:
    erin = replace(REQUEST, caller=replace(ROOT, subject=ERIN, groups=("a",)))
    moved = replace(erin, caller=replace(erin.caller, groups=("b",)))

    def groups() -> tuple[str, ...]:
        account = database.read_blocking(lambda conn: load_account(conn, TENANT, ERIN))
        assert account is not None
        return account.groups

    for request, expected in ((erin, ("a",)), (erin, ("a",)), (moved, ("b",))):
        database.write_blocking(lambda conn, request=request: note_account(conn, request, AROUND))  # type: ignore[misc]
        assert groups() == expected
    assert len(audited(database, "ACCOUNT_NOTE")) == 2

    database.write_blocking(lambda conn: put_account(conn, ERIN, MEMBERSHIPS, REQUEST, AROUND))
    database.write_blocking(lambda conn: note_account(conn, erin, AROUND))
    assert groups() == ("editors",)


def test_a_disabled_account_stays_disabled_when_it_is_noted(database: Database) -> None:
    database.write_blocking(
        lambda conn: switch_account(conn, ERIN, enabled=False, reason=None, request=REQUEST, around=AROUND)
    )
    erin = replace(REQUEST, caller=replace(ROOT, subject=ERIN))

    database.write_blocking(lambda conn: note_account(conn, erin, AROUND))

    account = database.read_blocking(lambda conn: load_account(conn, TENANT, ERIN))
    assert account is not None
    assert account.status is AccountStatus.DISABLED


def test_a_grant_is_made_once_and_taken_back_once(database: Database) -> None:
    database.write_blocking(lambda conn: store_served(conn, 1, granted=None))
    first = database.write_blocking(lambda conn: grant_access(conn, SPACE, DOCUMENT, EDITORS, REQUEST, AROUND)).kept
    again = database.write_blocking(lambda conn: grant_access(conn, SPACE, DOCUMENT, EDITORS, REQUEST, LATER)).kept
    assert again == first

    database.write_blocking(lambda conn: revoke_access(conn, SPACE, DOCUMENT, EDITORS, REQUEST, LATER))
    with pytest.raises(NotFound):
        database.write_blocking(lambda conn: revoke_access(conn, SPACE, DOCUMENT, EDITORS, REQUEST, LATER))
    (entry,) = audited(database, "ACCESS_REVOKE")
    assert entry["details"] == {"principal": "group:editors", "document": "doc_1"}


def test_a_token_is_kept_and_audited_without_its_text(database: Database) -> None:
    body = ServiceTokenRequest(service="loader", expires_in_seconds=60)
    made = database.write_blocking(lambda conn: create_service_token(conn, TOKEN, body, REQUEST, AROUND)).kept
    assert (made.sha256, made.expires_at) == (TOKEN.sha256, after(60))

    ended = database.write_blocking(lambda conn: revoke_service_token(conn, "kgt_1", REQUEST, AROUND)).kept
    again = database.write_blocking(lambda conn: revoke_service_token(conn, "kgt_1", REQUEST, LATER)).kept
    assert ended == again == replace(made, revoked_at=NOW)

    (entry,) = audited(database, "TOKEN_CREATE")
    assert (entry["resource_id"], entry["details"]) == ("kgt_1", {"service": "loader", "seconds": 60})
    assert "s" * 43 not in str(audited(database, "TOKEN_CREATE") + audited(database, "TOKEN_REVOKE"))


def test_a_revocation_reaches_further_and_never_less_far(database: Database) -> None:
    kind = RevocationKind.SESSION
    late = database.write_blocking(lambda conn: revoke_assertions(conn, kind, "s", REQUEST, LATER)).kept
    early = database.write_blocking(lambda conn: revoke_assertions(conn, kind, "s", REQUEST, AROUND)).kept

    assert early == late
    assert len(audited(database, "ASSERTION_REVOKE")) == 2


def test_without_a_role_nothing_is_managed(database: Database) -> None:
    database.write_blocking(lambda conn: store_served(conn, 1, granted=None))
    body = ServiceTokenRequest(service="loader")
    for move in (
        lambda conn: grant_access(conn, SPACE, None, EDITORS, NOBODY, AROUND),
        lambda conn: revoke_access(conn, SPACE, None, EDITORS, NOBODY, AROUND),
        lambda conn: put_account(conn, ERIN, MEMBERSHIPS, NOBODY, AROUND),
        lambda conn: switch_account(conn, ERIN, enabled=False, reason=None, request=NOBODY, around=AROUND),
        lambda conn: revoke_assertions(conn, RevocationKind.SUBJECT, "alice", NOBODY, AROUND),
        lambda conn: create_service_token(conn, TOKEN, body, NOBODY, AROUND),
        lambda conn: revoke_service_token(conn, "kgt_1", NOBODY, AROUND),
    ):
        with pytest.raises(Forbidden):
            database.write_blocking(move)
