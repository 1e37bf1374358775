"""The rows that a transaction holds: loaded once, changed in memory, saved together."""

from typing import Generic, Protocol, TypeVar


class Identified(Protocol):
    """Anything with an id."""

    @property
    def id(self) -> str:
        """What it is known by."""


Value = TypeVar("Value", bound=Identified)


class Held(Generic[Value]):
    """Values by id, with those that changed told apart from those that were only read."""

    __slots__ = ("_changed", "_values")

    def __init__(self, loaded: dict[str, Value]) -> None:
        self._values = loaded
        self._changed: set[str] = set()

    def get(self, key: str | None) -> Value | None:
        """The value as it is now in memory; None when it was not loaded."""
        return None if key is None else self._values.get(key)

    def put(self, value: Value | None) -> None:
        """Keep the value; only one that differs from what is held counts as changed."""
        if value is None or self._values.get(value.id) is value:
            return
        self._values[value.id] = value
        self._changed.add(value.id)

    def changed(self) -> list[Value]:
        """What must be saved, in the order of ids, so that everyone writes in the same order."""
        return [self._values[key] for key in sorted(self._changed)]
