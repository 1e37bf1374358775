"""Text as JavaScript sees it: its white space, its trim, lengths in code points, normal form."""

import re
import unicodedata
from typing import Final

SPACES: Final = "".join(
    map(
        chr,
        (
            *range(0x09, 0x0E),
            0x20,
            0xA0,
            0x1680,
            *range(0x2000, 0x200B),
            0x2028,
            0x2029,
            0x202F,
            0x205F,
            0x3000,
            0xFEFF,
        ),
    )
)
"""What white space is there. U+0085 and U+001C to U+001F are not among them, U+FEFF is."""

_TIME: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-](\d\d):(\d\d))", re.ASCII)
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")


def has_space(text: str) -> bool:
    """Whether a character of `SPACES` is in it."""
    return any(character in SPACES for character in text)


def has_control(text: str) -> bool:
    """Whether a character of category Cc is in it."""
    return any(unicodedata.category(character) == "Cc" for character in text)


def normalised(text: str) -> str:
    """NFC and trimmed."""
    return unicodedata.normalize("NFC", text).strip(SPACES)


def is_time(text: str) -> bool:
    """Whether the client's expression matches and its `Date.parse` takes it."""
    found = _TIME.fullmatch(text)
    if found is None:
        return False
    month, day, hour, minute, second = (int(found[number]) for number in range(2, 7))
    offset_hour, offset_minute = int(found[9] or 0), int(found[10] or 0)
    is_midnight = (hour, minute, second) == (24, 0, 0) and not (found[7] or "").strip(".0")
    return (
        1 <= month <= 12
        and 1 <= day <= 31
        and (hour <= 23 or is_midnight)
        and max(minute, second, offset_minute) <= 59
        and offset_hour <= 23
    )


def is_uri(text: str) -> bool:
    """Whether it names a scheme and something in it."""
    return _URI.fullmatch(text) is not None
