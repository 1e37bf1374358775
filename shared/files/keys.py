"""Keys of stored objects: random for each upload, never made from a name or from content."""

import re
import secrets

OBJECTS = "objects"
"""The prefix under which uploads lie."""

_KEY = re.compile(r"[a-z0-9_-]+(/[a-z0-9_-]+)+")
_OWN_KEY = re.compile(rf"{OBJECTS}/([0-9a-f]{{2}})/\1[0-9a-f]{{38}}")


def new_object_key() -> str:
    """A key that no other upload has: `objects/<2 hex>/<40 hex>`, spread so that no folder grows large."""
    token = secrets.token_hex(20)
    return f"{OBJECTS}/{token[:2]}/{token}"


def is_own_key(key: str) -> bool:
    """Whether this could be one that `new_object_key` has made."""
    return _OWN_KEY.fullmatch(key) is not None


def check_key(key: str) -> str:
    """Return a key that is one; ValueError for anything that could lead out of the store."""
    if _KEY.fullmatch(key) is None:
        raise ValueError(f"not an object key: {key!r}")
    return key
