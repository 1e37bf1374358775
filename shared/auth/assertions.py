"""User assertions: short-lived JWTs of a known issuer, each bound to one session."""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated

import jwt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shared.auth.errors import AuthenticationRefused, RefusalReason
from shared.auth.verification_keys import KeySource, VerificationKey
from shared.telemetry.stamps import Clock

LONGEST_ASSERTION = 8192
LONGEST_LIFE = timedelta(seconds=600)
LEEWAY = timedelta(seconds=5)
MOST_REMEMBERED = 10_000
SIGNATURE_ALONE: jwt.types.Options = {
    "verify_signature": True,
    "verify_exp": False,
    "verify_nbf": False,
    "verify_iat": False,
    "verify_aud": False,
    "verify_iss": False,
    "verify_sub": False,
    "verify_jti": False,
}
"""The library checks the signature; claims are checked here, by a clock that is an argument."""


Name = Annotated[str, Field(pattern=r"^[^\x00]*$")]
"""No database keeps a NUL, so nobody is called by one."""
Known = Annotated[Name, Field(min_length=1, max_length=256)]


class Claims(BaseModel):
    """What an assertion says; claims that we do not know are ignored. Times are seconds since 1970."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, allow_inf_nan=False)

    iss: str
    aud: str | list[str]
    sub: Known
    sid: Known
    tenant: Known
    iat: float
    exp: float
    nbf: float = 0
    groups: list[Name] = Field(default_factory=list)
    roles: list[Name] = Field(default_factory=list)
    domains: list[Name] = Field(default_factory=list)

    @property
    def audiences(self) -> list[str]:
        """Whom the assertion is for."""
        return [self.aud] if isinstance(self.aud, str) else self.aud

    @property
    def issued_at(self) -> datetime:
        """When the assertion was made; its times have been checked before this is asked."""
        return datetime.fromtimestamp(self.iat, UTC)


class AssertionVerifier:
    """Verifies assertions of the issuers it knows. A verified signature is remembered until the assertion expires."""

    def __init__(self, issuers: Mapping[str, KeySource], *, audience: str, clock: Clock) -> None:
        self._issuers = dict(issuers)
        self._audience = audience
        self._clock = clock
        self._verified: OrderedDict[bytes, Claims] = OrderedDict()

    async def verify(self, assertion: str, session_id: str) -> Claims:
        """What the assertion says of its bearer in this session; AuthenticationRefused if anything is wrong with it."""
        digest = hashlib.sha256(assertion.encode("utf-8", "surrogatepass")).digest()
        claims = self._verified.get(digest)
        if claims is None:
            claims = await self._read(assertion)
            self._check_standing(claims)
            self._remember(digest, claims)
        self._check_times(claims)
        if claims.sid != session_id:
            raise AuthenticationRefused(RefusalReason.OTHER_SESSION)
        return claims

    async def _read(self, assertion: str) -> Claims:
        """The claims of an assertion whose signature is its issuer's."""
        if len(assertion) > LONGEST_ASSERTION:
            raise AuthenticationRefused(RefusalReason.ASSERTION_MALFORMED)
        algorithm, key_id, issuer = _peek(assertion)
        source = self._issuers.get(issuer)
        if source is None:
            raise AuthenticationRefused(RefusalReason.ISSUER_UNKNOWN)
        for key in await source.find(algorithm, key_id):
            claims = _verify_signature(assertion, key)
            if claims is not None:
                return claims
        raise AuthenticationRefused(RefusalReason.SIGNATURE_WRONG)

    def _check_standing(self, claims: Claims) -> None:
        """What does not change with time."""
        if self._audience not in claims.audiences:
            raise AuthenticationRefused(RefusalReason.AUDIENCE_WRONG)
        if not 0 < claims.exp - claims.iat <= LONGEST_LIFE.total_seconds():
            raise AuthenticationRefused(RefusalReason.TOO_LONG_LIVED)

    def _check_times(self, claims: Claims) -> None:
        now, leeway = self._clock().timestamp(), LEEWAY.total_seconds()
        if now >= claims.exp + leeway:
            raise AuthenticationRefused(RefusalReason.EXPIRED)
        if now < max(claims.iat, claims.nbf) - leeway:
            raise AuthenticationRefused(RefusalReason.NOT_YET_VALID)

    def _remember(self, digest: bytes, claims: Claims) -> None:
        """Forget the oldest beyond the limit; an assertion lives ten minutes at most, so old ones are spent."""
        self._verified[digest] = claims
        if len(self._verified) > MOST_REMEMBERED:
            self._verified.popitem(last=False)


def digest_of_assertion(assertion: str) -> str:
    """By what an assertion is revoked: SHA-256, in hex, of what its issuer has signed, all before the last dot.

    The signature is left out because it can be written in several ways, and with ES256 made into another good one.
    """
    return hashlib.sha256(assertion.rpartition(".")[0].encode("utf-8", "surrogatepass")).hexdigest()


def _peek(assertion: str) -> tuple[str, str | None, str]:
    """Algorithm, key id and issuer as the unverified assertion states them, to find the key to verify it with."""
    try:
        header = jwt.get_unverified_header(assertion)
        issuer = jwt.decode(assertion, options={"verify_signature": False}).get("iss")
    except (jwt.PyJWTError, ValueError, RecursionError):
        raise AuthenticationRefused(RefusalReason.ASSERTION_MALFORMED) from None
    algorithm, key_id = header.get("alg"), header.get("kid")
    if not isinstance(issuer, str) or not isinstance(algorithm, str) or not isinstance(key_id, str | None):
        raise AuthenticationRefused(RefusalReason.ASSERTION_MALFORMED)
    return algorithm, key_id, issuer


def _verify_signature(assertion: str, key: VerificationKey) -> Claims | None:
    """The claims if this key signed them; None if it did not."""
    try:
        content = jwt.decode(assertion, key.material, algorithms=[key.algorithm], options=SIGNATURE_ALONE)
    except jwt.InvalidTokenError:
        return None
    try:
        return Claims.model_validate(content)
    except ValidationError:
        raise AuthenticationRefused(RefusalReason.CLAIMS_WRONG) from None
