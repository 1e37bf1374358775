"""What can go wrong with stored files, over the branches that tell the receiver what to do."""

from datetime import timedelta
from typing import Final

from shared.contracts.enums import FileFault
from shared.contracts.errors import ErrorCode
from shared.domain.errors import FieldFault, FileRefused, NotFound, StoreUnavailable

ROOM_IS_MADE_WITHIN: Final = timedelta(seconds=30)
"""Somebody has to make room; asking every second does not help."""


class FileTooLarge(FileRefused):
    """The upload brought more bytes than are allowed; what was stored of it is removed."""

    def __init__(self, limit: int) -> None:
        message = f"The file is larger than the {limit} bytes allowed."
        super().__init__(message, FileFault.TOO_LARGE, code=ErrorCode.FILE_TOO_LARGE)
        self.limit = limit


class FileTypeRefused(FileRefused):
    """The content is of a kind that the gateway does not take, or not the kind that the name claims."""

    def __init__(self, message: str, fault: FileFault = FileFault.TYPE_NOT_ALLOWED, *, field: str = "file") -> None:
        super().__init__(message, fault, code=ErrorCode.FILE_TYPE_NOT_ALLOWED, field=field)


class FileNameRefused(FileRefused):
    """The name cannot be a file's name."""

    def __init__(self, message: str, fault: FileFault, *, field: str = "fileName") -> None:
        super().__init__(message, fault, field=field)

    def given_in(self, field: str) -> "FileNameRefused":
        """The same refusal, naming where the client gave the name."""
        return FileNameRefused(self.message, self.fault, field=field)


class ObjectMissing(NotFound):
    """The object store holds nothing under this key."""


class StoreFull(StoreUnavailable):
    """The object store has no room for what was to be stored, and has kept nothing of it."""

    message = "The gateway's storage is full; nothing was kept of the file."

    def __init__(self) -> None:
        fault = FieldFault("storage", "STORAGE_FULL", self.message)
        super().__init__(retry_after=ROOM_IS_MADE_WITHIN, faults=(fault,))
