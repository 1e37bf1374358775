"""A request's headers as text by lower-case name."""

from collections.abc import Iterable, Mapping


def read_headers(raw: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """All headers; one that came several times is joined with a comma and a space, as HTTP means it."""
    headers: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers
