"""Scripted providers that tests open where no fixture could close them: they are closed at the end of the test."""

from typing import TypeVar

from shared.providers.scripted.provider import ScriptedProvider

P = TypeVar("P", bound=ScriptedProvider)

_kept: list[ScriptedProvider] = []


def kept(provider: P) -> P:
    """The provider itself, which `close_kept` will close."""
    _kept.append(provider)
    return provider


def close_kept() -> None:
    """Close what was kept since the last time."""
    while _kept:
        _kept.pop()._store.close()
