"""Names of files as clients give them: shown, compared and sent back, never used as a path."""

import re
import unicodedata
from urllib.parse import quote

from shared.contracts.enums import FileFault
from shared.files.errors import FileNameRefused

LONGEST_NAME = 255
"""Code points, as the contract says."""

_SEPARATORS = re.compile(r"[/\\]")
_DROPPED_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Control characters, lone surrogates, and separators of lines and paragraphs."""

_DIRECTION_MARKS = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""They can make `exe.pdf` read as `fdp.exe`."""

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9 ._()+,=@~-]")


def clean_file_name(claimed: str) -> str:
    """The name a file goes by: the last component of what the client sent, in NFC, with nothing invisible in it.

    FileNameRefused when nothing is left, or more than 255 code points are.
    """
    last = _SEPARATORS.split(claimed)[-1]
    visible = "".join(character for character in last if _is_kept(character))
    name = unicodedata.normalize("NFC", visible).strip()
    if name.strip(".") == "":
        raise FileNameRefused("The file has no name.", FileFault.EMPTY)
    if len(name) > LONGEST_NAME:
        raise FileNameRefused(f"The file name is longer than {LONGEST_NAME} characters.", FileFault.TOO_LONG)
    return name


def content_disposition(name: str) -> str:
    """The header (RFC 6266) that offers a download under this name, in ASCII for old clients and in full for others."""
    full = quote(name, safe="!#$&+-.^_`|~")  # attr-char of RFC 8187
    return f"attachment; filename=\"{_plain(name)}\"; filename*=UTF-8''{full}"


def extension_of(name: str) -> str:
    """What follows the last dot, in lower case; empty when there is none."""
    stem, dot, extension = name.rpartition(".")
    return extension.lower() if dot and stem else ""


def _is_kept(character: str) -> bool:
    return unicodedata.category(character) not in _DROPPED_CATEGORIES and character not in _DIRECTION_MARKS


def _plain(name: str) -> str:
    """Letters without their accents, and an underscore for whatever has no ASCII form."""
    decomposed = unicodedata.normalize("NFKD", name)
    return _NOT_PLAIN.sub("_", "".join(character for character in decomposed if not unicodedata.combining(character)))
