"""Service tokens: which service is calling, and for which tenants it may speak."""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass

from shared.auth.errors import AuthenticationRefused, RefusalReason
from shared.contracts.ids import TenantId


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
    """The live tokens; a service has several while it changes from one to the next."""

    def __init__(self, tokens: Sequence[ServiceToken]) -> None:
        self._tokens = tuple(tokens)

    def recognise(self, presented: str) -> ServiceToken:
        """The token that was presented; AuthenticationRefused if it is none of ours.

        Every token is compared, each in constant time, so that timing tells neither how much of one was right
        nor which one it was.
        """
        digest = digest_of(presented)
        matches = [token for token in self._tokens if hmac.compare_digest(token.digest, digest)]
        if not matches:
            raise AuthenticationRefused(RefusalReason.TOKEN_UNKNOWN)
        return matches[0]


def digest_of(token: str) -> bytes:
    """The SHA-256 of a token, which is what settings and memory hold."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
