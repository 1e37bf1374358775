"""Keys that assertions are verified with: each fits exactly one algorithm, which the token cannot choose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Protocol

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

SHORTEST_RSA_BITS = 2048
SHORTEST_SECRET_BYTES = 32
FOR_SIGNATURES = "sig"
"""What the `use` of a published key says when it says anything and we may verify with it."""


@unique
class Algorithm(StrEnum):
    """Signature algorithms. HS256 shares its secret with the issuer, so it is for development alone."""

    EDDSA = "EdDSA"
    ES256 = "ES256"
    RS256 = "RS256"
    HS256 = "HS256"


KeyMaterial = Ed25519PublicKey | EllipticCurvePublicKey | RSAPublicKey | bytes


class KeyUnusable(ValueError):
    """The text is no public key of an algorithm that we accept, or the key is too weak."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationKey:
    """A key, its algorithm, and the id (`kid`) that tokens may name it by."""

    algorithm: Algorithm
    material: KeyMaterial
    key_id: str | None = None

    def fits(self, algorithm: str, key_id: str | None) -> bool:
        """Whether a token with this header may have been signed for this key."""
        return self.algorithm == algorithm and (key_id is None or self.key_id is None or self.key_id == key_id)


class KeySource(Protocol):
    """Where an issuer's keys come from."""

    async def find(self, algorithm: str, key_id: str | None) -> Sequence[VerificationKey]:
        """The keys that a token with this header may have been signed for."""


class FixedKeys:
    """Keys that stand in the settings."""

    def __init__(self, keys: Sequence[VerificationKey]) -> None:
        self._keys = tuple(keys)

    async def find(self, algorithm: str, key_id: str | None) -> Sequence[VerificationKey]:
        """The fitting ones of the fixed keys."""
        return [key for key in self._keys if key.fits(algorithm, key_id)]


def read_key(text: str) -> VerificationKey:
    """A public key from PEM or from a JSON Web Key; KeyUnusable for anything else."""
    if text.lstrip().startswith("{"):
        try:
            return read_jwk(jwt.PyJWK.from_json(text))
        except (jwt.PyJWTError, ValueError) as error:
            raise KeyUnusable("not a JSON Web Key that can be used") from error
    try:
        material = load_pem_public_key(text.strip().encode())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise KeyUnusable("not a public key in PEM") from error
    return _key(material, key_id=None)


def read_jwk(jwk: jwt.PyJWK) -> VerificationKey:
    """A verification key from a parsed JSON Web Key; KeyUnusable if it is secret, private, or of another kind."""
    return _key(jwk.key, key_id=jwk.key_id)


def read_key_set(content: Mapping[str, object]) -> tuple[VerificationKey, ...]:
    """The usable keys of a JSON Web Key Set; keys of kinds, or for uses, that we do not accept are left out."""
    entries = content.get("keys")
    found = []
    for entry in entries if isinstance(entries, list) else []:
        try:
            if entry.get("use", FOR_SIGNATURES) == FOR_SIGNATURES:
                found.append(read_jwk(jwt.PyJWK.from_dict(entry)))
        except (jwt.PyJWTError, KeyUnusable, AttributeError, TypeError):
            continue
    return tuple(found)


def secret_key(secret: bytes) -> VerificationKey:
    """A secret shared with a development issuer."""
    if len(secret) < SHORTEST_SECRET_BYTES:
        raise KeyUnusable(f"a shared secret has at least {SHORTEST_SECRET_BYTES} bytes")
    return VerificationKey(algorithm=Algorithm.HS256, material=secret)


def _key(material: object, *, key_id: str | None) -> VerificationKey:
    match material:
        case Ed25519PublicKey():
            return VerificationKey(algorithm=Algorithm.EDDSA, material=material, key_id=key_id)
        case EllipticCurvePublicKey(curve=SECP256R1()):
            return VerificationKey(algorithm=Algorithm.ES256, material=material, key_id=key_id)
        case RSAPublicKey(key_size=bits) if bits >= SHORTEST_RSA_BITS:
            return VerificationKey(algorithm=Algorithm.RS256, material=material, key_id=key_id)
        case _:
            raise KeyUnusable("not a public key of Ed25519, P-256, or RSA with at least 2048 bits")
