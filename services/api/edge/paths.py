"""Splits actions from ids on the raw path, where a client's own colons and slashes are still percent-encoded."""

from urllib.parse import unquote

REPLACEMENT = "\ufffd"


def split_action(path: str) -> str:
    """Give the action after a colon in the last segment a segment of its own: ``/documents/a%3Ab/:replace``.

    Works on raw paths and on the contract's templates alike, so that one matches the other.
    """
    before, slash, last = path.rpartition("/")
    name, colon, action = last.partition(":")
    return f"{before}{slash}{name}/:{action}" if colon else path


def decode_id(segment: str) -> str | None:
    """The id in a raw path segment; None when it can be no id of ours: not UTF-8, too long, or with a NUL."""
    text = unquote(segment, errors="replace")
    if REPLACEMENT in text or "\0" in text or not 0 < len(text) <= 256:
        return None
    return text
