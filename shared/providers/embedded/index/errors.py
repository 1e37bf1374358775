"""What can be wrong with the index itself. All of it is for an operator, so a request may succeed later."""

from shared.domain.errors import NotFound, ProviderUnavailable


class IndexMissing(ProviderUnavailable):
    """There is no index at the configured path, or it was never completed."""


class IndexMismatch(ProviderUnavailable):
    """The index was written by another release or with another embedder; vectors of two embedders never mix."""


class IndexBusy(ProviderUnavailable):
    """The index stayed locked by another writer, or the disk refused the write."""


class NotInIndex(NotFound):
    """The space or document is not, or no longer, in the index."""
