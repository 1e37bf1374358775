"""Signs where audit chains end, and verifies it with nothing but public keys."""

import base64
import binascii
import hashlib
from collections.abc import Sequence
from datetime import datetime
from enum import Enum, auto, unique
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from shared.auth.development import new_signing_key
from shared.auth.key_files import load_or_create, load_private
from shared.auth.verification_keys import KeyUnusable
from shared.contracts.audit_messages import CheckpointSigned

KEY_ID_LENGTH = 16


@unique
class Verdict(Enum):
    """What a signature is worth."""

    GENUINE = auto()
    FORGED = auto()
    UNKNOWN_KEY = auto()


class CheckpointSigner:
    """Signs with one Ed25519 key."""

    def __init__(self, pem: bytes) -> None:
        """KeyUnusable when the text is no private Ed25519 key."""
        try:
            key = load_pem_private_key(pem, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise KeyUnusable("not a private key in PEM") from error
        if not isinstance(key, Ed25519PrivateKey):
            raise KeyUnusable("not an Ed25519 key")
        self._key = key
        self._key_id = _id_of(key.public_key())

    @property
    def public_key(self) -> str:
        """The key that verifies what this one has signed, in PEM."""
        form = PublicFormat.SubjectPublicKeyInfo
        return self._key.public_key().public_bytes(Encoding.PEM, form).decode()

    def sign(self, chain: str, seq: int, head_hash: str, at: datetime) -> CheckpointSigned:
        """A checkpoint of a chain that ends so."""
        draft = CheckpointSigned(chain=chain, seq=seq, hash=head_hash, at=at, key_id=self._key_id, signature="")
        signature = base64.urlsafe_b64encode(self._key.sign(draft.signed_bytes())).rstrip(b"=").decode()
        return draft.model_copy(update={"signature": signature})


class CheckpointVerifier:
    """Knows the public keys that checkpoints may be signed with."""

    def __init__(self, keys: Sequence[str]) -> None:
        """`keys` in PEM; KeyUnusable when one of them is no public Ed25519 key."""
        self._keys = {_id_of(key): key for key in map(_public_key, keys)}

    def judge(self, checkpoint: CheckpointSigned) -> Verdict:
        """Whether the checkpoint was signed by the key that it names."""
        key = self._keys.get(checkpoint.key_id)
        if key is None:
            return Verdict.UNKNOWN_KEY
        try:
            signature = base64.b64decode(checkpoint.signature + "==", altchars=b"-_")
            key.verify(signature, checkpoint.signed_bytes())
        except (InvalidSignature, binascii.Error, ValueError):
            return Verdict.FORGED
        return Verdict.GENUINE


def load_signer(path: Path) -> CheckpointSigner:
    """The signer with the key in a private file; KeyFileExposed when others may read it."""
    return CheckpointSigner(load_private(path))


def load_or_create_signer(path: Path) -> CheckpointSigner:
    """The same, with a key that is made when there is none."""
    return CheckpointSigner(load_or_create(path, new_signing_key))


def _public_key(text: str) -> Ed25519PublicKey:
    try:
        key = load_pem_public_key(text.strip().encode())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise KeyUnusable("not a public key in PEM") from error
    if not isinstance(key, Ed25519PublicKey):
        raise KeyUnusable("not an Ed25519 key")
    return key


def _id_of(key: Ed25519PublicKey) -> str:
    return hashlib.sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()[:KEY_ID_LENGTH]
