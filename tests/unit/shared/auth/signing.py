"""Issuers of assertions for tests, one for each algorithm, and a clock that is set by hand."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm
from jwt.types import JWKDict

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
SECRET = b"a shared secret of at least 32 bytes"
PrivateKey = ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@dataclass
class HandClock:
    """A clock that stands still until it is moved."""

    now: datetime = field(default=NOW)

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, time: timedelta) -> None:
        """Move on."""
        self.now += time


@cache
def private_key(algorithm: str) -> PrivateKey:
    """A private key for an algorithm, the same for the whole run."""
    match algorithm:
        case "EdDSA":
            return ed25519.Ed25519PrivateKey.generate()
        case "ES256":
            return ec.generate_private_key(ec.SECP256R1())
        case "RS256":
            return rsa.generate_private_key(public_exponent=65537, key_size=2048)
        case _:
            raise ValueError(algorithm)


def public_pem(key: PrivateKey) -> str:
    """The public half in PEM."""
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def public_jwk(algorithm: str, **more: str) -> dict[str, object]:
    """The public half as a JSON Web Key."""
    return {**_write_jwk(private_key(algorithm)), **more}


def _write_jwk(key: PrivateKey) -> JWKDict:
    match key:
        case ed25519.Ed25519PrivateKey():
            return OKPAlgorithm.to_jwk(key.public_key(), as_dict=True)
        case ec.EllipticCurvePrivateKey():
            return ECAlgorithm.to_jwk(key.public_key(), as_dict=True)
        case rsa.RSAPrivateKey():
            return RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)


def claims(**changes: object) -> dict[str, object]:
    """Claims that are right at NOW, with some of them changed; a value of None takes the claim out."""
    issued = int(NOW.timestamp())
    right: dict[str, object] = {
        "iss": "https://issuer.example",
        "aud": "knowgate",
        "sub": "alice",
        "sid": "session-1",
        "tenant": "tenant-a",
        "groups": ["staff"],
        "roles": ["knowledge-reader"],
        "domains": ["public", "internal"],
        "iat": issued,
        "exp": issued + 600,
    }
    return {name: value for name, value in (right | changes).items() if value is not None}


def sign(
    content: dict[str, object],
    algorithm: str = "EdDSA",
    *,
    key: PrivateKey | bytes | str | None = None,
    headers: dict[str, object] | None = None,
) -> str:
    """An assertion with these claims."""
    return jwt.encode(content, key if key is not None else private_key(algorithm), algorithm, headers=headers)
