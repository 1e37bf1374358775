"""Who the command line itself is, so that nobody shuts themselves out by mistake."""

from dataclasses import dataclass

import jwt

from services.cli.access import Access
from services.cli.complaints import Complaint

SHUT_OUT = "You would shut yourself out."


@dataclass(frozen=True, slots=True, kw_only=True)
class Oneself:
    """A user in a session; the tenant is always the one that is administered."""

    subject: str | None
    session_id: str


def oneself(access: Access) -> Oneself:
    """Whom the assertion is about. An assertion that cannot be read is about nobody: the gateway will refuse it."""
    try:
        claims = jwt.decode(access.credentials.assertion().get_secret_value(), options={"verify_signature": False})
    except jwt.InvalidTokenError:
        claims = {}
    return Oneself(subject=claims.get("sub"), session_id=access.credentials.session_id)


def require_other_subject(access: Access, subject: str, remedy: str = "") -> None:
    """Refuse what would shut out the user that the command line is."""
    if subject == oneself(access).subject:
        raise Complaint(SHUT_OUT, remedy)
