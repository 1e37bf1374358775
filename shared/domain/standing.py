"""Whether credentials that are good in themselves still count: what is shown, and what is known against it."""

from dataclasses import dataclass
from datetime import datetime

from shared.contracts.ids import SubjectId, TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Whom a request's credentials name, and which of them they are."""

    tenant: TenantId
    subject: SubjectId
    session_id: str
    assertion_digest: str
    """SHA-256, in hex, of what the issuer has signed; "" for who shows no assertion."""
    issued_at: datetime
    """When the assertion was made."""
    token_id: str | None = None
    """Of a service token that a tenant made; None for one of the settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRecord:
    """What is kept of a service token that a tenant made; `digest` is its SHA-256 in hex."""

    tenant: TenantId
    service: str
    digest: str
    expires_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known at one moment about what was shown."""

    is_disabled: bool
    """The account is DISABLED."""
    is_revoked: bool
    """The assertion, its session or its subject is revoked, for assertions of its time."""
    token: TokenRecord | None = None
    """The token of the id that was shown; None when there is none."""
