"""Who asks: users of several tenants, and the issuer that speaks for them, with a key made for one run."""

import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

ISSUER: Final = "https://identity.conformance.example"
AUDIENCE: Final = "knowgate"
ALGORITHM: Final = "EdDSA"
LIFE: Final = 600

ADMIN: Final = "knowledge-admin"
MAINTAINER: Final = "knowledge-maintainer"
READER: Final = "knowledge-reader"
OPERATOR: Final = "gateway-admin"

TENANT: Final = "acme"
OTHER_TENANT: Final = "globex"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Somebody who may call."""

    subject: str
    tenant: str = TENANT
    roles: tuple[str, ...] = (ADMIN,)
    groups: tuple[str, ...] = ()
    domains: tuple[str, ...] = ("general",)
    session: str = "session-1"


ALICE: Final = User(subject="alice")
BOB: Final = User(subject="bob")
RITA: Final = User(subject="rita", roles=(READER,))
OSCAR: Final = User(subject="oscar", roles=(OPERATOR,))
FOREIGNER: Final = User(subject="alice", tenant=OTHER_TENANT)


class Issuer:
    """Signs assertions, and knows the service tokens."""

    def __init__(self) -> None:
        self._key = Ed25519PrivateKey.generate()
        self._stranger = Ed25519PrivateKey.generate()
        self.token = secrets.token_urlsafe(32)
        self.next_token = secrets.token_urlsafe(32)
        """Live beside the first, as while a service changes its token."""
        self.narrow_token = secrets.token_urlsafe(32)
        """Speaks for one tenant only."""

    def settings(self) -> Mapping[str, str]:
        """What a gateway must be set to to believe it."""
        public = self._key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
        tokens: list[dict[str, object]] = [
            {"service": "harness", "token": self.token},
            {"service": "harness", "token": self.next_token},
            {"service": "narrow", "token": self.narrow_token, "tenants": [OTHER_TENANT]},
        ]
        return {
            "KNOWGATE_AUTH_ISSUERS": json.dumps([{"issuer": ISSUER, "public_keys": [public]}]),
            "KNOWGATE_AUTH_SERVICE_TOKENS": json.dumps(tokens),
        }

    def assertion(
        self, user: User, *, life: int = LIFE, age: int = 0, by_stranger: bool = False, **claims: object
    ) -> str:
        """Proof of who a user is, for `life` seconds since `age` seconds ago, with other claims if some are given."""
        issued = int(time.time()) - age
        told = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": user.subject,
            "sid": user.session,
            "tenant": user.tenant,
            "roles": list(user.roles),
            "groups": list(user.groups),
            "domains": list(user.domains),
            "iat": issued,
            "exp": issued + life,
            "jti": secrets.token_hex(8),
        }
        key = self._stranger if by_stranger else self._key
        return jwt.encode(told | claims, key, algorithm=ALGORITHM)
