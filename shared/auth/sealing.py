"""Sealed values: opaque, unforgeable and stateless. Citations and download links are made of them.

A value is base64url(kind, key id, AES-SIV(payload)). AES-SIV is deterministic, so the same payload for the same
recipient gives the same text while the key is current, and it needs no nonce that could repeat.
"""

import base64
import binascii
import hashlib
from collections.abc import Sequence
from enum import IntEnum, unique
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from shared.auth.errors import SealBroken
from shared.auth.key_files import load_or_create

KEY_BITS = 512
KEY_BYTES = KEY_BITS // 8
KEY_ID_BYTES = 4
HEADER_BYTES = 1 + KEY_ID_BYTES
KEY_FILE = "sealing.key"


@unique
class SealKind(IntEnum):
    """What a sealed value is for, and in which format; one kind is never taken for another."""

    CITATION = 1
    DOWNLOAD = 3  # 2 was a format that is read no more


class Sealer:
    """Seals with the newest key and opens with any of them, so that a key can be replaced without breaking links."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        """`keys` of 64 bytes each, newest first; ValueError if there is none."""
        if not keys:
            raise ValueError("at least one sealing key is needed")
        self._newest = _key_id(keys[0])
        self._ciphers = {_key_id(key): AESSIV(key) for key in keys}

    def seal(self, kind: SealKind, payload: bytes, associated: bytes) -> str:
        """Seal a payload for whoever can name `associated`; about 4/3 of (payload + 21) characters."""
        header = bytes([kind]) + self._newest
        return _to_text(header + self._ciphers[self._newest].encrypt(payload, [header, associated]))

    def open(self, kind: SealKind, sealed: str, associated: bytes) -> bytes:
        """The payload; SealBroken for everything that `seal` did not return for this kind and `associated`."""
        content = _from_text(sealed)
        header, ciphertext = content[:HEADER_BYTES], content[HEADER_BYTES:]
        cipher = self._ciphers.get(header[1:])
        if cipher is None or header[0] != kind:
            raise SealBroken
        try:
            return cipher.decrypt(ciphertext, [header, associated])
        except InvalidTag:
            raise SealBroken from None


def load_or_create_key(directory: Path) -> bytes:
    """The sealing key of one machine, kept in a private file of the directory."""
    return load_or_create(directory / KEY_FILE, lambda: AESSIV.generate_key(KEY_BITS))


def _key_id(key: bytes) -> bytes:
    if len(key) != KEY_BYTES:
        raise ValueError(f"a sealing key has {KEY_BYTES} bytes")
    return hashlib.sha256(b"knowgate sealing key" + key).digest()[:KEY_ID_BYTES]


def _to_text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _from_text(sealed: str) -> bytes:
    """Strictly: one value has one text, or two citations of one place would look different."""
    try:
        content = base64.b64decode(sealed + "=" * (-len(sealed) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise SealBroken from None
    if _to_text(content) != sealed:
        raise SealBroken
    return content
