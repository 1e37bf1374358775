"""Who bears a link right now: the user it was made for, as the directory knows them at this moment."""

from dataclasses import replace

from sqlalchemy import Connection

from services.api.downloads.ticket import Ticket
from shared.database.accounts import Account, load_account
from shared.database.standing import read_standing
from shared.domain.errors import NotFound
from shared.domain.identity import Caller
from shared.domain.standing import Shown


def current_bearer(conn: Connection, ticket: Ticket) -> Caller:
    """The ticket's user with today's memberships; NotFound when user or session have been shut out since."""
    shown = Shown(
        tenant=ticket.tenant,
        subject=ticket.subject,
        session_id=ticket.session_id,
        assertion_digest="",
        issued_at=ticket.issued_at,
    )
    standing = read_standing(conn, shown)
    account = load_account(conn, ticket.tenant, ticket.subject)
    if account is None or standing.is_disabled or standing.is_revoked:
        raise NotFound
    return as_known(ticket.bearer, account)


def as_known(caller: Caller, account: Account) -> Caller:
    """The caller with the memberships of their account instead of an assertion's."""
    return replace(caller, groups=account.groups, roles=account.roles, domains=account.domains)
