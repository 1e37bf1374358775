"""What grants, accounts, revocations and tokens look like over HTTP."""

from typing import TypeVar

from shared.contracts.admin import Account as AccountBody
from shared.contracts.admin import Grant as GrantBody
from shared.contracts.admin import Principal as PrincipalBody
from shared.contracts.admin import Revocation as RevocationBody
from shared.contracts.admin import ServiceToken
from shared.database.accounts import Account
from shared.database.grants import Grant
from shared.database.revocations import Revocation
from shared.database.service_tokens import StoredToken

Form = TypeVar("Form", bound=ServiceToken)


def grant_body(grant: Grant) -> GrantBody:
    """A grant."""
    return GrantBody(
        space_id=grant.space_id,
        document_id=grant.document_id,
        principal=PrincipalBody(kind=grant.principal.kind, name=grant.principal.name),
        created_by=grant.created_by,
        created_at=grant.created_at,
    )


def account_body(account: Account) -> AccountBody:
    """An account."""
    return AccountBody(
        subject=account.subject,
        status=account.status,
        managed=account.is_managed,
        groups=account.groups,
        roles=account.roles,
        domains=account.domains,
        created_at=account.created_at,
        updated_at=account.updated_at,
    )


def revocation_body(revocation: Revocation) -> RevocationBody:
    """A revocation."""
    return RevocationBody(
        kind=revocation.kind,
        value=revocation.value,
        issued_until=revocation.issued_until,
        created_by=revocation.created_by,
        created_at=revocation.created_at,
        expires_at=revocation.expires_at,
    )


def token_body(token: StoredToken, form: type[Form]) -> Form:
    """A token, without what it consists of, in one of its forms."""
    return form(
        token_id=token.id,
        service=token.service,
        created_by=token.created_by,
        created_at=token.created_at,
        expires_at=token.expires_at,
        revoked_at=token.revoked_at,
    )
