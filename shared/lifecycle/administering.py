"""What a move leaves that manages access: it is over at once."""

from dataclasses import dataclass
from typing import Generic, TypeVar

Kept_co = TypeVar("Kept_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Administered(Generic[Kept_co]):
    """What a move left; nothing is published for it."""

    kept: Kept_co
    command: None = None
