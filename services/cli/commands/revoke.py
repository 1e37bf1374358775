"""`knowgate revoke`: refuse assertions that were issued until now."""

import re
import sys
from typing import Annotated

import anyio
import typer

from services.cli.access import Access, find_access, opened
from services.cli.commands.options import USUAL_HOME, HomeOption
from services.cli.complaints import Complaint
from services.cli.console import answers
from services.cli.oneself import SHUT_OUT, oneself, require_other_subject
from services.cli.requests import request_of
from services.cli.settings import CliSettings
from services.cli.tables import told_time
from shared.auth.assertions import digest_of_assertion
from shared.contracts.admin import Revocation, RevocationRequest
from shared.contracts.enums import RevocationKind

revoke = typer.Typer(no_args_is_help=True, help="Refuse assertions that were issued until now; new ones are taken.")

YesOption = Annotated[bool, typer.Option("--yes", help="Also if it is your own.")]

FROM_STDIN = "-"
SURELY = "Give --yes if that is what you want."
_DIGEST = re.compile("[0-9a-f]{64}")


@revoke.command("assertion")
def assertion(
    value: Annotated[
        str,
        typer.Argument(
            metavar="ASSERTION",
            help="The assertion, the SHA-256 of its signed part in hex, or - to read it from standard input.",
        ),
    ],
    home: HomeOption = USUAL_HOME,
) -> None:
    """Refuse one assertion. Only the digest of its signed part is sent."""
    text = sys.stdin.read().strip() if value == FROM_STDIN else value
    if _DIGEST.fullmatch(text) is None and text.count(".") != 2:
        raise typer.BadParameter("this is neither an assertion nor the SHA-256 of one in lower-case hex")
    digest = text if _DIGEST.fullmatch(text) else digest_of_assertion(text)
    revocation = _revoke(RevocationKind.ASSERTION, digest, find_access(home, CliSettings()))
    answers().print(f"The assertion {digest}, issued up to {told_time(revocation.issued_until)}, is refused.")


@revoke.command("session")
def session(
    value: Annotated[str, typer.Argument(metavar="SESSION", help="The session that assertions name as `sid`.")],
    yes: YesOption = False,
    home: HomeOption = USUAL_HOME,
) -> None:
    """Refuse every assertion of a session."""
    access = find_access(home, CliSettings())
    if value == oneself(access).session_id and not yes:
        raise Complaint(SHUT_OUT, SURELY)
    _tell(_revoke(RevocationKind.SESSION, value, access))


@revoke.command("subject")
def subject(
    value: Annotated[str, typer.Argument(metavar="SUBJECT", help="The user that assertions name as `sub`.")],
    yes: YesOption = False,
    home: HomeOption = USUAL_HOME,
) -> None:
    """Refuse every assertion of a user, who has to sign in anew; `accounts disable` shuts them out for good."""
    access = find_access(home, CliSettings())
    if not yes:
        require_other_subject(access, value, SURELY)
    _tell(_revoke(RevocationKind.SUBJECT, value, access))


def _revoke(kind: RevocationKind, value: str, access: Access) -> Revocation:
    return anyio.run(_ask, access, request_of(RevocationRequest, kind=kind, value=value))


def _tell(revocation: Revocation) -> None:
    what = f"{revocation.kind.value} {revocation.value}"
    answers().print(
        f"Assertions of {what} issued up to {told_time(revocation.issued_until)} are refused.", markup=False
    )


async def _ask(access: Access, request: RevocationRequest) -> Revocation:
    async with opened(access) as client:
        return await client.administration.revoke(request)
