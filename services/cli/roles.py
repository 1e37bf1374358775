"""Remarks on roles that nobody may have heard of: a gateway may be configured with roles of its own."""

from collections.abc import Collection

from services.cli.console import remarks
from shared.domain.authorization import DEFAULT_ROLES


def remark_unusual(roles: Collection[str]) -> None:
    """Say which roles a gateway usually has, when one of these is none of them. It is no error."""
    for role in sorted(set(roles) - set(DEFAULT_ROLES)):
        usual = ", ".join(DEFAULT_ROLES)
        remarks().print(
            f"{role!r} is none of them: this gateway's usual roles are {usual}.", markup=False, soft_wrap=True
        )
