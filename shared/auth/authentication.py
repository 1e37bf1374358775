"""Who is calling: a service token and a user assertion together, or nobody."""

import ipaddress

import httpx

from shared.auth.assertions import AssertionVerifier, Claims, digest_of_assertion
from shared.auth.development import ISSUER as DEVELOPMENT_ISSUER
from shared.auth.development import DevelopmentIssuer
from shared.auth.directory import Directory
from shared.auth.errors import AuthenticationRefused, RefusalReason
from shared.auth.key_sets import RemoteKeys
from shared.auth.sealing import Sealer, load_or_create_key
from shared.auth.service_tokens import ServiceToken, ServiceTokens, digest_of, minted_id, require_minted
from shared.auth.settings import AuthSettings, IssuerSettings, ServiceTokenSettings
from shared.auth.verification_keys import FixedKeys, KeySource, read_key, secret_key
from shared.contracts.ids import SubjectId, TenantId
from shared.domain.identity import Caller
from shared.domain.standing import Shown, Standing
from shared.telemetry.stamps import Clock

SCHEME = "bearer"


class UnsafeAuthentication(Exception):
    """The settings would let others in: development credentials are only for an API bound to this machine."""


class Authenticator:
    """Turns the three headers of a request into a caller."""

    def __init__(
        self, tokens: ServiceTokens, assertions: AssertionVerifier, directory: Directory, clock: Clock
    ) -> None:
        self._tokens = tokens
        self._assertions = assertions
        self._directory = directory
        self._clock = clock

    async def authenticate(self, authorization: str | None, assertion: str | None, session_id: str | None) -> Caller:
        """The caller by `Authorization`, `X-User-Assertion` and `X-Harness-Session-Id`.

        AuthenticationRefused for whatever is wrong; account, revocations and a minted token are looked up each time.
        """
        presented = _bearer(authorization)
        token = self._tokens.find(presented)
        token_id = _required_id(presented) if token is None else None
        claims = await self._assertions.verify(assertion or "", session_id or "")
        if token is not None:
            token.require_tenant(TenantId(claims.tenant))
        standing = await self._directory.standing(_shown(claims, assertion or "", token_id))
        if token is None:
            token = require_minted(presented, standing.token, self._clock())
            token.require_tenant(TenantId(claims.tenant))
        _require_good(standing)
        return _caller(claims, token.service)


def build_authenticator(
    settings: AuthSettings, *, host: str, client: httpx.AsyncClient, directory: Directory, clock: Clock
) -> Authenticator:
    """The authenticator of an API that listens on `host`; UnsafeAuthentication if that is a network and the settings
    hold credentials for development.
    """
    if not is_loopback(host) and (settings.development_issuer or any(one.shared_secret for one in settings.issuers)):
        raise UnsafeAuthentication(f"development_issuer and shared_secret are refused on {host}; bind to 127.0.0.1")
    issuers = {one.issuer: _key_source(one, client, clock) for one in settings.issuers}
    if settings.development_issuer and settings.key_directory is not None:
        issuers[DEVELOPMENT_ISSUER] = DevelopmentIssuer(settings.key_directory).keys()
    tokens = ServiceTokens([_service_token(one) for one in settings.service_tokens])
    verifier = AssertionVerifier(issuers, audience=settings.audience, clock=clock)
    return Authenticator(tokens, verifier, directory, clock)


def build_sealer(settings: AuthSettings) -> Sealer:
    """The sealer with the configured keys, or with the machine's own."""
    if settings.sealing_keys or settings.key_directory is None:
        return Sealer(settings.decoded_sealing_keys())
    return Sealer([load_or_create_key(settings.key_directory)])


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens on `host`."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _bearer(authorization: str | None) -> str:
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != SCHEME or not token:
        raise AuthenticationRefused(RefusalReason.TOKEN_UNKNOWN)
    return token.strip()


def _required_id(presented: str) -> str:
    token_id = minted_id(presented)
    if token_id is None:
        raise AuthenticationRefused(RefusalReason.TOKEN_UNKNOWN)
    return token_id


def _caller(claims: Claims, service: str) -> Caller:
    return Caller(
        tenant=TenantId(claims.tenant),
        subject=SubjectId(claims.sub),
        groups=tuple(claims.groups),
        roles=tuple(claims.roles),
        domains=tuple(claims.domains),
        session_id=claims.sid,
        service=service,
    )


def _shown(claims: Claims, assertion: str, token_id: str | None) -> Shown:
    return Shown(
        tenant=TenantId(claims.tenant),
        subject=SubjectId(claims.sub),
        session_id=claims.sid,
        assertion_digest=digest_of_assertion(assertion),
        issued_at=claims.issued_at,
        token_id=token_id,
    )


def _require_good(standing: Standing) -> None:
    if standing.is_revoked:
        raise AuthenticationRefused(RefusalReason.ASSERTION_REVOKED)
    if standing.is_disabled:
        raise AuthenticationRefused(RefusalReason.ACCOUNT_DISABLED)


def _key_source(settings: IssuerSettings, client: httpx.AsyncClient, clock: Clock) -> KeySource:
    if settings.jwks_url is not None:
        return RemoteKeys(settings.jwks_url, client=client, clock=clock)
    if settings.shared_secret is not None:
        return FixedKeys([secret_key(settings.shared_secret.get_secret_value().encode())])
    return FixedKeys([read_key(text) for text in settings.public_keys])


def _service_token(settings: ServiceTokenSettings) -> ServiceToken:
    if settings.token is not None:
        digest = digest_of(settings.token.get_secret_value())
    else:
        digest = bytes.fromhex(settings.sha256 or "")
    return ServiceToken(service=settings.service, digest=digest, tenants=settings.tenants)
