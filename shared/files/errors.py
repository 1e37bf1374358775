"""What can go wrong with stored files, over the branches that tell the receiver what to do."""

from shared.contracts.errors import ErrorCode
from shared.domain.errors import FileRefused, NotFound


class FileTooLarge(FileRefused):
    """The upload brought more bytes than are allowed; what was stored of it is removed."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The file is larger than the {limit} bytes allowed.", code=ErrorCode.FILE_TOO_LARGE)
        self.limit = limit


class FileTypeRefused(FileRefused):
    """The content is of a kind that the gateway does not take, or not the kind that the name claims."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code=ErrorCode.FILE_TYPE_NOT_ALLOWED)


class FileNameRefused(FileRefused):
    """The name cannot be a file's name."""

    def __init__(self, message: str) -> None:
        super().__init__(message, field="fileName")


class ObjectMissing(NotFound):
    """The object store holds nothing under this key."""
