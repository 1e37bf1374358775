"""Why a file could not be digested, for the whole way from its bytes to its vectors."""

from shared.contracts.enums import FailureReason


class DigestFailed(Exception):
    """The file did not become chunks. `reason` decides about a retry; `detail` is for logs and holds no content."""

    def __init__(self, reason: FailureReason, detail: str = "") -> None:
        super().__init__(f"{reason.value}: {detail}" if detail else reason.value)
        self.reason = reason
        self.detail = detail
