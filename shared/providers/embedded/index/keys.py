"""Native ids as the provider port sees them (text) and as the tables hold them (integers)."""

from collections.abc import Iterable

import orjson

_NOWHERE = -1
"""The key of an id that this index cannot have given: no row has it."""


def document_key(native_id: str) -> int:
    """The row id of a document."""
    return _key(native_id)


def space_key(native_id: str) -> int:
    """The row id of a space."""
    return _key(native_id)


def key_list(native_ids: Iterable[str]) -> str:
    """Row ids as a JSON array for ``json_each``, in ascending order so that pages are read once."""
    return orjson.dumps(sorted({int(native_id) for native_id in native_ids if _is_key(native_id)})).decode()


def _key(native_id: str) -> int:
    return int(native_id) if _is_key(native_id) else _NOWHERE


def _is_key(native_id: str) -> bool:
    """Whether it can be a row id: at most 62 bits, so 19 digits."""
    return native_id.isdecimal() and len(native_id) < 20
