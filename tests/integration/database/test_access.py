"""Accounts, revocations, tokens that tenants make, and what is known against a request, on both databases."""

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.contracts.enums import AccountStatus, PrincipalKind, RevocationKind
from shared.contracts.ids import DocumentId, SpaceId, SubjectId, TenantId
from shared.database.accounts import Account, insert_missing_accounts, list_accounts, load_account, save_accounts
from shared.database.database import Database
from shared.database.grants import find_grant, insert_grants, page_of_grants
from shared.database.revocations import (
    Revocation,
    forget_revocations,
    insert_missing_revocations,
    list_revocations,
    load_revocation,
    save_revocations,
)
from shared.database.service_tokens import StoredToken, insert_tokens, list_tokens, load_token, save_tokens
from shared.database.standing import read_standing
from shared.domain.authorization import Principal
from shared.domain.standing import Shown, Standing, TokenRecord
from tests.integration.database.samples import ALICE, EDITORS, NOW, TENANT, a_grant, after, store_served

OTHER = TenantId("globex")
DIGEST = "ab" * 32
ACCOUNT = Account(
    tenant_id=TENANT,
    subject=SubjectId("alice"),
    groups=("größe", 'qu"ote', "a,b"),
    roles=("knowledge-reader",),
    domains=("public",),
    created_at=NOW,
    updated_at=NOW,
)
REVOCATION = Revocation(
    tenant_id=TENANT,
    kind=RevocationKind.SUBJECT,
    value="alice",
    issued_until=NOW,
    created_by=SubjectId("root"),
    created_at=NOW,
    expires_at=after(605),
)
TOKEN = StoredToken(
    id="kgt_1",
    tenant_id=TENANT,
    service="loader",
    sha256=DIGEST,
    created_by=SubjectId("root"),
    created_at=NOW,
    expires_at=after(60),
)
SHOWN = Shown(tenant=TENANT, subject=SubjectId("alice"), session_id="session-1", assertion_digest=DIGEST, issued_at=NOW)
GOOD = Standing(is_disabled=False, is_revoked=False)


def look(database: Database, shown: Shown = SHOWN) -> Standing:
    return database.read_blocking(lambda conn: read_standing(conn, shown))


def test_an_account_is_read_as_it_was_written(database: Database) -> None:
    database.write_blocking(lambda conn: insert_missing_accounts(conn, [ACCOUNT]))
    found = database.read_blocking(lambda conn: load_account(conn, TENANT, SubjectId("alice")))
    assert found == ACCOUNT

    changed = replace(
        ACCOUNT, status=AccountStatus.DISABLED, is_managed=True, groups=(), updated_at=NOW + timedelta(seconds=1)
    )
    database.write_blocking(lambda conn: save_accounts(conn, [changed]))
    assert database.read_blocking(lambda conn: load_account(conn, TENANT, SubjectId("alice"))) == changed
    assert database.read_blocking(lambda conn: load_account(conn, OTHER, SubjectId("alice"))) is None


def test_an_account_that_is_there_is_not_made_again(database: Database) -> None:
    database.write_blocking(lambda conn: insert_missing_accounts(conn, [ACCOUNT]))
    database.write_blocking(lambda conn: insert_missing_accounts(conn, [replace(ACCOUNT, roles=())]))

    assert database.read_blocking(lambda conn: load_account(conn, TENANT, SubjectId("alice"))) == ACCOUNT


def test_accounts_are_listed_oldest_first_a_page_at_a_time_and_by_tenant(database: Database) -> None:
    names = [replace(ACCOUNT, subject=SubjectId(f"user-{n}"), created_at=after(-n)) for n in range(5)]
    foreign = replace(ACCOUNT, tenant_id=OTHER)
    database.write_blocking(lambda conn: insert_missing_accounts(conn, [*names, foreign]))

    first, total = database.read_blocking(lambda conn: list_accounts(conn, TENANT, page=1, page_size=3))
    last, _ = database.read_blocking(lambda conn: list_accounts(conn, TENANT, page=2, page_size=3))
    beyond, counted = database.read_blocking(lambda conn: list_accounts(conn, TENANT, page=3, page_size=3))

    assert [account.subject for account in [*first, *last]] == ["user-4", "user-3", "user-2", "user-1", "user-0"]
    assert (total, beyond, counted) == (5, [], 5)
    assert database.read_blocking(lambda conn: list_accounts(conn, TenantId("x"), page=1, page_size=3)) == ([], 0)


def test_a_revocation_is_read_as_it_was_written(database: Database) -> None:
    database.write_blocking(lambda conn: insert_missing_revocations(conn, [REVOCATION, REVOCATION]))
    further = replace(REVOCATION, issued_until=after(60), expires_at=after(665))
    database.write_blocking(lambda conn: save_revocations(conn, [further]))

    kind = RevocationKind.SUBJECT
    assert database.read_blocking(lambda conn: load_revocation(conn, TENANT, kind, "alice")) == further
    assert database.read_blocking(lambda conn: list_revocations(conn, TENANT, page=1, page_size=9)) == ([further], 1)
    assert database.read_blocking(lambda conn: list_revocations(conn, OTHER, page=1, page_size=9)) == ([], 0)


def test_revocations_are_forgotten_when_they_have_expired_and_not_before(database: Database) -> None:
    many = [replace(REVOCATION, value=f"user-{n}", expires_at=after(n)) for n in range(5)]
    database.write_blocking(lambda conn: insert_missing_revocations(conn, many))

    assert database.write_blocking(lambda conn: forget_revocations(conn, after(3), limit=3)) == 3
    assert database.write_blocking(lambda conn: forget_revocations(conn, after(3), limit=3)) == 1
    left, _ = database.read_blocking(lambda conn: list_revocations(conn, TENANT, page=1, page_size=9))
    assert [revocation.value for revocation in left] == ["user-4"]


def test_a_token_is_read_as_it_was_written_by_its_tenant_alone(database: Database) -> None:
    second = replace(TOKEN, id="kgt_2", created_at=after(1), expires_at=None)
    database.write_blocking(lambda conn: insert_tokens(conn, [second, TOKEN]))
    revoked = replace(TOKEN, revoked_at=after(5))
    database.write_blocking(lambda conn: save_tokens(conn, [revoked]))

    assert database.read_blocking(lambda conn: load_token(conn, TENANT, "kgt_1")) == revoked
    assert database.read_blocking(lambda conn: load_token(conn, OTHER, "kgt_1")) is None
    listed = database.read_blocking(lambda conn: list_tokens(conn, TENANT, page=1, page_size=9))
    assert listed == ([revoked, second], 2)


def test_nothing_is_known_against_most(database: Database) -> None:
    assert look(database) == GOOD


@pytest.mark.parametrize(
    ("changes", "is_disabled"),
    [
        ({}, False),
        ({"status": AccountStatus.DISABLED}, True),
        ({"status": AccountStatus.DISABLED, "tenant_id": OTHER}, False),
        ({"status": AccountStatus.DISABLED, "subject": SubjectId("bob")}, False),
    ],
)
def test_a_disabled_account_is_known(database: Database, changes: dict[str, object], is_disabled: bool) -> None:
    account = replace(ACCOUNT, **changes)  # type: ignore[arg-type]
    database.write_blocking(lambda conn: insert_missing_accounts(conn, [account]))

    assert look(database) == replace(GOOD, is_disabled=is_disabled)


@pytest.mark.parametrize(
    ("kind", "value", "until", "is_revoked"),
    [
        (RevocationKind.SUBJECT, "alice", 0, True),
        (RevocationKind.SUBJECT, "alice", -0.000001, False),
        (RevocationKind.SUBJECT, "session-1", 0, False),
        (RevocationKind.SESSION, "session-1", 0, True),
        (RevocationKind.SESSION, "session-1", -1, False),
        (RevocationKind.SESSION, "alice", 0, False),
        (RevocationKind.ASSERTION, DIGEST, 0, True),
        (RevocationKind.ASSERTION, "cd" * 32, 0, False),
    ],
)
def test_a_revocation_hits_what_it_names_if_that_is_not_newer(
    database: Database, kind: RevocationKind, value: str, until: float, is_revoked: bool
) -> None:
    revocation = replace(REVOCATION, kind=kind, value=value, issued_until=after(until))
    database.write_blocking(lambda conn: insert_missing_revocations(conn, [revocation]))

    assert look(database) == replace(GOOD, is_revoked=is_revoked)
    assert look(database, replace(SHOWN, tenant=OTHER)) == GOOD


def test_the_record_of_a_token_comes_with_the_same_look(database: Database) -> None:
    database.write_blocking(lambda conn: insert_tokens(conn, [TOKEN]))
    database.write_blocking(lambda conn: insert_missing_revocations(conn, [REVOCATION]))
    record = TokenRecord(tenant=TENANT, service="loader", digest=DIGEST, expires_at=after(60), revoked_at=None)

    assert look(database, replace(SHOWN, token_id="kgt_1")) == Standing(
        is_disabled=False, is_revoked=True, token=record
    )
    assert look(database, replace(SHOWN, token_id="kgt_2")) == replace(GOOD, is_revoked=True)


def test_grants_are_listed_a_page_at_a_time(database: Database) -> None:
    database.write_blocking(lambda conn: store_served(conn, 1))
    grants = [a_grant(EDITORS), a_grant(ALICE, document_id="doc_1")]
    database.write_blocking(lambda conn: insert_grants(conn, grants))
    space_id = SpaceId("spc_1")

    listed, total = database.read_blocking(lambda conn: page_of_grants(conn, TENANT, space_id, page=1, page_size=2))
    rest, _ = database.read_blocking(lambda conn: page_of_grants(conn, TENANT, space_id, page=2, page_size=2))

    assert (len(listed), len(rest), total) == (2, 1, 3)
    assert {*listed, *rest} == {a_grant(ALICE), *grants}
    assert database.read_blocking(lambda conn: page_of_grants(conn, OTHER, space_id, page=1, page_size=2)) == ([], 0)


def test_a_grant_is_found_by_everything_that_makes_it(database: Database) -> None:
    database.write_blocking(lambda conn: store_served(conn, 1))
    space_id, document_id = SpaceId("spc_1"), DocumentId("doc_1")

    def found(tenant: TenantId, document: DocumentId | None, principal: Principal) -> bool:
        return database.read_blocking(lambda conn: find_grant(conn, tenant, space_id, document, principal)) is not None

    assert found(TENANT, None, ALICE)
    assert not found(OTHER, None, ALICE)
    assert not found(TENANT, document_id, ALICE)
    assert not found(TENANT, None, Principal(PrincipalKind.GROUP, "alice"))
