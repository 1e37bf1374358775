"""A stored object as a seekable binary file, read by ranges, for those who look into it without fetching it whole."""

import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from obstore import ReadableFile


class ObjectView(io.RawIOBase):
    """Adapts obstore's reader to Python's raw file protocol; wrap it in a BufferedReader."""

    def __init__(self, reader: "ReadableFile") -> None:
        self._reader = reader

    def readable(self) -> bool:
        """Always true."""
        return True

    def seekable(self) -> bool:
        """Always true."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move, and return the new position."""
        return self._reader.seek(offset, whence)

    def tell(self) -> int:
        """The position."""
        return self._reader.tell()

    def readinto(self, buffer: Any, /) -> int:
        """Fill the buffer as far as the object goes."""
        view = memoryview(buffer)
        piece = bytes(self._reader.read(len(view)))
        view[: len(piece)] = piece
        return len(piece)
