"""Bytes to text: byte order marks, UTF-8, UTF-16 without a mark, Chinese, then a guess by statistics."""

from pathlib import Path

from charset_normalizer import from_bytes

from shared.contracts.enums import FailureReason
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.limits import MEBIBYTE

_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
MAX_CONTENT_BYTES = 128 * MEBIBYTE
_GUESS_BYTES = 256 * 1024
_PROBE_CHARACTERS = 20_000
_ALLOWED_CONTROLS = frozenset("\t\n\r\f\v\x1b\x85")
_MAX_CONTROL_SHARE = 0.005
_MIN_EVERYDAY_SHARE = 0.8


def read_text(path: Path) -> str:
    """Decode a whole file; rejects what is not text in any encoding that can be told."""
    return decode(read_content(path))


def read_content(path: Path) -> bytes:
    """The bytes of a file of text; what could never be searched is not even loaded."""
    if path.stat().st_size > MAX_CONTENT_BYTES:
        raise DigestFailed(FailureReason.FILE_TOO_LARGE, f"more than {MAX_CONTENT_BYTES} bytes")
    return path.read_bytes()


def decode(content: bytes) -> str:
    """Decode bytes of unknown encoding."""
    text = _decode_certain(content)
    if text is None:
        text = _decode_likely(content)
    if text is None or _looks_binary(text):
        raise DigestFailed(FailureReason.FILE_UNSUPPORTED, "not a text file")
    return text


def _decode_certain(content: bytes) -> str | None:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _try(content, encoding)
    sample = content[:4096]
    if b"\0" in sample:
        # Mostly-Latin UTF-16 without a mark has its zeros on one side only.
        even, odd = sample[::2].count(0), sample[1::2].count(0)
        if max(even, odd) < 0.3 * len(sample) / 2 or min(even, odd) > 0.1 * max(even, odd):
            raise DigestFailed(FailureReason.FILE_UNSUPPORTED, "not a text file")
        return _try(content, "utf-16-le" if odd > even else "utf-16-be")
    return _try(content, "utf-8")


def _decode_likely(content: bytes) -> str | None:
    damaged = content.decode("utf-8", errors="replace")
    if _is_slightly_damaged(damaged):
        return damaged
    chinese = _try(content, "gb18030")
    if chinese is not None and _reads_as_chinese(chinese):
        return chinese
    guess = from_bytes(content[:_GUESS_BYTES]).best()
    return None if guess is None else content.decode(guess.encoding, errors="replace")


def _is_slightly_damaged(text: str) -> bool:
    """UTF-8 that was cut or lost a byte still holds far more sound multi-byte characters than broken ones."""
    broken = text.count("\ufffd")
    return sum(1 for char in text[:_PROBE_CHARACTERS] if char > "\x7f" and char != "\ufffd") >= 10 * broken


def _try(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return None


def _reads_as_chinese(text: str) -> bool:
    """GB18030 accepts most bytes, so ask whether the characters are the everyday ones of GB 2312's first level."""
    hanzi = [char for char in text[:_PROBE_CHARACTERS] if ord(char) > 0x2E7F]
    return bool(hanzi) and sum(map(_is_everyday, hanzi)) >= _MIN_EVERYDAY_SHARE * len(hanzi)


def _is_everyday(char: str) -> bool:
    code = char.encode("gb18030")
    return len(code) == 2 and code[1] >= 0xA1 and (0xA1 <= code[0] <= 0xA3 or 0xB0 <= code[0] <= 0xD7)


def _looks_binary(text: str) -> bool:
    probe = text[:_PROBE_CHARACTERS]
    controls = sum(1 for char in probe if char < " " and char not in _ALLOWED_CONTROLS)
    return controls > _MAX_CONTROL_SHARE * len(probe)
