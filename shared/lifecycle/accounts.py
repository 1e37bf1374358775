"""Moves of accounts: managed from here on, disabled, enabled, and what an assertion says noted."""

from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.contracts.admin import AccountPutRequest
from shared.contracts.enums import AccountStatus, Action
from shared.contracts.ids import SubjectId, TenantId
from shared.database.accounts import Account, insert_missing_accounts, load_account, save_accounts
from shared.database.locking import Lock
from shared.domain.authorization import require_action
from shared.domain.errors import NotFound
from shared.domain.identity import Caller
from shared.lifecycle.administering import Administered
from shared.lifecycle.recording import Detail, reason_details
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings
from shared.lifecycle.telling import Told, record_told

PUT: Final = "ACCOUNT_PUT"
DISABLED: Final = "ACCOUNT_DISABLE"
ENABLED: Final = "ACCOUNT_ENABLE"
NOTED: Final = "ACCOUNT_NOTE"
"""What the audit calls the four moves."""


class AccountNotFound(NotFound):
    """The gateway knows no such user; most users it does not know, and needs not to."""

    message = "The gateway keeps no account of this user."


def put_account(
    conn: Connection, subject: SubjectId, body: AccountPutRequest, request: Request, around: Surroundings
) -> Administered[Account]:
    """Give an account its memberships; assertions change them no more. Whether it is disabled stays as it is."""
    require_action(request.caller, Action.MANAGE_ACCESS, request.roles)
    now = around.clock()
    before = _held(conn, request.caller.tenant, subject, now)
    after = replace(before, is_managed=True, groups=body.groups, roles=body.roles, domains=body.domains, updated_at=now)
    save_accounts(conn, [after])
    record_told(conn, _told(PUT, before, after, _memberships(after)), request, around, now)
    return Administered(kept=after)


def switch_account(
    conn: Connection, subject: SubjectId, *, enabled: bool, reason: str | None, request: Request, around: Surroundings
) -> Administered[Account]:
    """Shut a user out, known or not, or let a known one in again."""
    require_action(request.caller, Action.MANAGE_ACCESS, request.roles)
    if enabled and load_account(conn, request.caller.tenant, subject) is None:
        raise AccountNotFound
    now = around.clock()
    before = _held(conn, request.caller.tenant, subject, now)
    status = AccountStatus.ACTIVE if enabled else AccountStatus.DISABLED
    after = before if before.status is status else replace(before, status=status, updated_at=now)
    save_accounts(conn, [after])
    action = ENABLED if enabled else DISABLED
    record_told(conn, _told(action, before, after, dict(reason_details(reason))), request, around, now)
    return Administered(kept=after)


def note_account(conn: Connection, request: Request, around: Surroundings) -> None:
    """Keep what the caller's assertion says of them, for when they come without one; never over what is managed."""
    now = around.clock()
    before = _held(conn, request.caller.tenant, request.caller.subject, now)
    if not is_news(before, request.caller):
        return
    caller = request.caller
    after = replace(before, groups=caller.groups, roles=caller.roles, domains=caller.domains, updated_at=now)
    save_accounts(conn, [after])
    record_told(conn, _told(NOTED, before, after, _memberships(after)), request, around, now)


def is_news(account: Account | None, caller: Caller) -> bool:
    """Whether the caller's assertion says something that is to be noted."""
    if account is None:
        return True
    known = (account.groups, account.roles, account.domains)
    return not account.is_managed and known != (caller.groups, caller.roles, caller.domains)


def _held(conn: Connection, tenant_id: TenantId, subject: SubjectId, now: datetime) -> Account:
    """The account, locked; made if it is not there."""
    new = Account(tenant_id=tenant_id, subject=subject, created_at=now, updated_at=now)
    insert_missing_accounts(conn, [new])
    return load_account(conn, tenant_id, subject, lock=Lock.UPDATE) or new


def _told(action: str, before: Account, after: Account, details: dict[str, Detail]) -> Told:
    return Told(
        action=action,
        resource_id=after.subject,
        before=before.status.value,
        after=after.status.value,
        details=details,
    )


def _memberships(account: Account) -> dict[str, Detail]:
    return {
        "groups": ",".join(account.groups),
        "roles": ",".join(account.roles),
        "domains": ",".join(account.domains),
    }
