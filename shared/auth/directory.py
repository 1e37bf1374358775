"""What authentication asks of whoever keeps accounts, revocations and the tokens that tenants make."""

from typing import Protocol

from shared.domain.standing import Shown, Standing


class Directory(Protocol):
    """Knows, at this moment and not a while ago, who has been shut out."""

    async def standing(self, shown: Shown) -> Standing:
        """What is known about what was shown; a Transient error when it cannot be told right now."""
