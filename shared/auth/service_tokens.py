"""Service tokens: which service is calling, and for which tenants it may speak."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from shared.auth.errors import AuthenticationRefused, RefusalReason
from shared.contracts.ids import TenantId
from shared.domain.standing import TokenRecord
from shared.telemetry.stamps import NewId

MINTED_PREFIX: Final = "kgt"
SECRET_BYTES: Final = 32
_MINTED: Final = re.compile(rf"({MINTED_PREFIX}_[0-9a-z]{{1,64}})\.[A-Za-z0-9_-]{{43}}")
_NO_DIGEST: Final = "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceToken:
    """One live token of a service. Only its SHA-256 is kept; `tenants` of None are all tenants."""

    service: str
    digest: bytes
    tenants: frozenset[TenantId] | None = None

    def require_tenant(self, tenant: TenantId) -> None:
        """AuthenticationRefused unless the service may speak for this tenant."""
        if self.tenants is not None and tenant not in self.tenants:
            raise AuthenticationRefused(RefusalReason.TOKEN_OF_OTHER_TENANT)


class ServiceTokens:
    """The live tokens of the settings; a service has several while it changes from one to the next."""

    def __init__(self, tokens: Sequence[ServiceToken]) -> None:
        self._tokens = tuple(tokens)

    def find(self, presented: str) -> ServiceToken | None:
        """The token that was presented; None if it is none of these.

        Every token is compared, each in constant time, so that timing tells neither how much of one was right
        nor which one it was.
        """
        digest = digest_of(presented)
        matches = [token for token in self._tokens if hmac.compare_digest(token.digest, digest)]
        return matches[0] if matches else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token that nobody has seen yet: `<id>.<secret>`, and the id begins with `kgt_`."""

    id: str
    text: str = field(repr=False)

    @property
    def sha256(self) -> str:
        """What is kept of it, in hex."""
        return digest_of(self.text).hex()


def mint_token(make_id: NewId) -> NewToken:
    """A token with a fresh secret. Its text is shown once and kept nowhere."""
    token_id = make_id(MINTED_PREFIX)
    return NewToken(id=token_id, text=f"{token_id}.{secrets.token_urlsafe(SECRET_BYTES)}")


def minted_id(presented: str) -> str | None:
    """The id in a token that looks like one that a tenant made; None for any other text."""
    found = _MINTED.fullmatch(presented)
    return None if found is None else found[1]


def require_minted(presented: str, record: TokenRecord | None, now: datetime) -> ServiceToken:
    """The token that was presented, by the record of its id; AuthenticationRefused unless it is right and live."""
    kept = _NO_DIGEST if record is None else record.digest
    digest = digest_of(presented)
    is_right = hmac.compare_digest(kept, digest.hex())
    if record is None or not is_right:
        raise AuthenticationRefused(RefusalReason.TOKEN_UNKNOWN)
    if record.revoked_at is not None:
        raise AuthenticationRefused(RefusalReason.TOKEN_REVOKED)
    if record.expires_at is not None and now >= record.expires_at:
        raise AuthenticationRefused(RefusalReason.TOKEN_EXPIRED)
    return ServiceToken(service=record.service, digest=digest, tenants=frozenset({record.tenant}))


def digest_of(token: str) -> bytes:
    """The SHA-256 of a token, which is what settings, memory and the database hold."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
