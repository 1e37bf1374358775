"""Whether bytes are text, in whatever encoding, and what kind of text they look like."""

import codecs
import re

from shared.contracts.content_types import ContentType

BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
MOST_CONTROLS = 0.001
LEAST_FAMILIAR = 0.97

_CONTROLS = bytes(code for code in range(32) if chr(code) not in "\t\n\v\f\r\x1b") + b"\x7f"
_FAMILIAR = re.compile(
    "[\t\n\r\x20-\x7e\u00a0-\u017f\u0370-\u052f\u2010-\u2027\u2030-\u205e\u3000-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff00-\uffef]"
)
"""Latin, Greek, Cyrillic, Chinese, Japanese and Korean with their punctuation."""

_INVISIBLE = "\u200b\ufeff"
"""What a person sees nothing of although it is no white space: a byte order mark is one, wherever it stands."""

_HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?>(?:<!--.*?-->\s*)*)<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL
)
_HEADER = re.compile(r"([A-Za-z][A-Za-z0-9-]*):[ \t]")
_MAIL_HEADERS = frozenset({"from", "to", "subject", "date", "received", "message-id", "mime-version", "return-path"})
LEAST_MAIL_HEADERS = 3


def is_text(head: bytes) -> bool:
    """Whether a file that begins with `head` is text: marked Unicode, UTF-8, or bytes of an older encoding."""
    return _decode_marked(head) is not None or _few_controls(head)


def is_blank(content: bytes) -> bool:
    """Whether text holds nothing but white space, or only a byte order mark."""
    marked = _decode_marked(content)
    text = content.decode("utf-8", "replace") if marked is None else marked
    return all(character.isspace() or character in _INVISIBLE for character in text)


def is_unmarked_utf16(head: bytes) -> bool:
    """Whether it reads well as UTF-16 although nothing marks it so. Short binary may too: rule that out first."""
    return any(_reads_as(head, encoding) for encoding in ("utf-16-le", "utf-16-be"))


def kind_of_text(head: bytes) -> ContentType:
    """HTML or e-mail where the beginning shows it, else plain text."""
    text = _decode_marked(head) or head.decode("utf-8", "replace")
    if _HTML_START.match(text):
        return ContentType.HTML
    return ContentType.EMAIL if _has_mail_headers(text) else ContentType.TEXT


def _decode_marked(head: bytes) -> str | None:
    """The text after a byte order mark; None without one, or when what follows is not what it says."""
    for mark, encoding in BOMS:
        if head.startswith(mark):
            text = _decode(head, encoding)
            return text if text is not None and _few_controls(text.encode("utf-8", "replace")) else None
    return None


def _decode(head: bytes, encoding: str) -> str | None:
    """Decode strictly; a character that the end of `head` cuts in two does not count against it."""
    try:
        return codecs.getincrementaldecoder(encoding)("strict").decode(head)
    except UnicodeDecodeError:
        return None


def _few_controls(head: bytes) -> bool:
    """Text has next to no control characters, and never a NUL; every eighth byte of binary is one."""
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return b"\0" not in head and controls <= MOST_CONTROLS * len(head)


def _reads_as(head: bytes, encoding: str) -> bool:
    text = _decode(head, encoding) or ""
    return text != "" and len(_FAMILIAR.findall(text)) >= LEAST_FAMILIAR * len(text)


def _has_mail_headers(text: str) -> bool:
    found = set()
    for line in text.lstrip("\ufeff").splitlines():
        header = _HEADER.match(line)
        if header is None and not line.startswith((" ", "\t")):
            break
        if header is not None:
            found.add(header[1].lower())
    return len(found & _MAIL_HEADERS) >= LEAST_MAIL_HEADERS
