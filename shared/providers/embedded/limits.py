"""How much one document may cost before it is refused."""

from dataclasses import dataclass
from datetime import timedelta

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestLimits:
    """Bounds on the digestion of one file.

    `memory_bytes` is the address space that a parser may take, `time` what it may take to read one file;
    `text_characters` and `chunks` bound what comes out.
    """

    memory_bytes: int = 2048 * MEBIBYTE
    time: timedelta = timedelta(minutes=5)
    text_characters: int = 20_000_000
    chunks: int = 50_000
