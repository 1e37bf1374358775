"""Who is calling: what a verified service token and user assertion say."""

from dataclasses import dataclass

from shared.contracts.ids import SubjectId, TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A user of a tenant, acting in one session through one service."""

    tenant: TenantId
    subject: SubjectId
    groups: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    """Codes of the security domains that the user belongs to."""
    session_id: str
    service: str
    """The name of the service token that the request came with."""
