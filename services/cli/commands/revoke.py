"""`knowgate revoke`: refuse assertions that were issued until now."""

import re
import sys
from typing import Annotated

import anyio
import typer

from services.cli.access import Access, find_access, opened
from services.cli.commands.options import USUAL_HOME, HomeOption
from services.cli.console import answers
from services.cli.requests import request_of
from services.cli.settings import CliSettings
from services.cli.tables import told_time
from shared.auth.assertions import digest_of_assertion
from shared.contracts.admin import Revocation, RevocationRequest
from shared.contracts.enums import RevocationKind

revoke = typer.Typer(no_args_is_help=True, help="Refuse assertions that were issued until now; new ones are taken.")

FROM_STDIN = "-"
_DIGEST = re.compile("[0-9a-f]{64}")


@revoke.command("assertion")
def assertion(
    value: Annotated[
        str, typer.Argument(metavar="ASSERTION", help="It, the SHA-256 of its signed part in hex, or - to read it.")
    ],
    home: HomeOption = USUAL_HOME,
) -> None:
    """Refuse one assertion. Only the digest of its signed part is sent."""
    text = sys.stdin.read().strip() if value == FROM_STDIN else value
    if _DIGEST.fullmatch(text) is None and text.count(".") != 2:
        raise typer.BadParameter("this is neither an assertion nor the SHA-256 of one in lower-case hex")
    digest = text if _DIGEST.fullmatch(text) else digest_of_assertion(text)
    _revoke(RevocationKind.ASSERTION, digest, home)


@revoke.command("session")
def session(
    value: Annotated[str, typer.Argument(metavar="SESSION", help="The session that assertions name as `sid`.")],
    home: HomeOption = USUAL_HOME,
) -> None:
    """Refuse every assertion of a session."""
    _revoke(RevocationKind.SESSION, value, home)


@revoke.command("subject")
def subject(
    value: Annotated[str, typer.Argument(metavar="SUBJECT", help="The user that assertions name as `sub`.")],
    home: HomeOption = USUAL_HOME,
) -> None:
    """Refuse every assertion of a user, who has to sign in anew; `accounts disable` shuts them out for good."""
    _revoke(RevocationKind.SUBJECT, value, home)


def _revoke(kind: RevocationKind, value: str, home: HomeOption) -> None:
    access = find_access(home, CliSettings())
    revocation = anyio.run(_ask, access, request_of(RevocationRequest, kind=kind, value=value))
    answers().print(
        f"The {kind.value} {value} is refused in what was issued until {told_time(revocation.issued_until)}.",
        markup=False,
    )


async def _ask(access: Access, request: RevocationRequest) -> Revocation:
    async with opened(access) as client:
        return await client.administration.revoke(request)
