"""An issuer of assertions and a service token for one machine, with keys made at first use. Never for a network."""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from shared.auth.key_files import load_or_create
from shared.auth.verification_keys import Algorithm, FixedKeys, VerificationKey

ISSUER = "knowgate-development"
KEY_FILE = "development-issuer.pem"
TOKEN_FILE = "development-service.token"
USUAL_LIFE = timedelta(seconds=600)


class DevelopmentIssuer:
    """Signs assertions with the Ed25519 key of one machine, kept in a private file of its directory."""

    def __init__(self, directory: Path) -> None:
        """Read the key, or make it; whoever can read the file can be anyone."""
        key = load_pem_private_key(load_or_create(directory / KEY_FILE, new_signing_key), password=None)
        if not isinstance(key, Ed25519PrivateKey):
            raise TypeError(f"{directory / KEY_FILE} is not an Ed25519 key")
        self._key = key

    def keys(self) -> FixedKeys:
        """What verifies its assertions."""
        return FixedKeys([VerificationKey(algorithm=Algorithm.EDDSA, material=self._key.public_key())])

    def mint(
        self,
        *,
        audience: str,
        tenant: str,
        subject: str,
        session_id: str,
        now: datetime,
        groups: Sequence[str] = (),
        roles: Sequence[str] = (),
        domains: Sequence[str] = (),
        life: timedelta = USUAL_LIFE,
    ) -> str:
        """An assertion for one user in one session."""
        issued = int(now.timestamp())
        claims = {
            "iss": ISSUER,
            "aud": audience,
            "sub": subject,
            "sid": session_id,
            "tenant": tenant,
            "groups": list(groups),
            "roles": list(roles),
            "domains": list(domains),
            "iat": issued,
            "exp": issued + int(life.total_seconds()),
        }
        return jwt.encode(claims, self._key, algorithm=Algorithm.EDDSA)


def load_or_create_service_token(directory: Path) -> str:
    """The service token of one machine, kept in a private file of the directory."""
    return load_or_create(directory / TOKEN_FILE, lambda: secrets.token_urlsafe(32).encode()).decode()


def new_signing_key() -> bytes:
    """A new Ed25519 key in PEM."""
    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
