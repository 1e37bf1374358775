"""`knowgate tokens`: the tokens by which services speak for the tenant."""

from datetime import timedelta
from typing import Annotated

import anyio
import typer

from services.cli.access import Access, find_access, opened
from services.cli.commands.options import USUAL_HOME, HomeOption
from services.cli.complaints import Complaint
from services.cli.console import answers, remarks
from services.cli.requests import request_of
from services.cli.settings import CliSettings
from services.cli.tables import every, show_table, told_time
from shared.contracts.admin import (
    LONGEST_TOKEN_LIFE,
    SHORTEST_TOKEN_LIFE,
    ServiceToken,
    ServiceTokenCreated,
    ServiceTokenRequest,
)

tokens = typer.Typer(no_args_is_help=True, help="Service tokens; several may be live while one replaces another.")

DAY = timedelta(days=1)


@tokens.command("list")
def list_(home: HomeOption = USUAL_HOME) -> None:
    """List the tenant's service tokens, revoked ones among them."""
    found = anyio.run(_list, find_access(home, CliSettings()))
    if not found:
        answers().print("This tenant has made no service tokens.")
        return
    headings = ("id", "service", "by", "since", "expires", "revoked")
    show_table(headings, [_row(token) for token in found])


@tokens.command("create")
def create(
    service: Annotated[str, typer.Argument(help="The service that will present it; the audit names it.")],
    days: Annotated[
        float | None,
        typer.Option(
            help="How long it is good, from a minute to 3650 days; without it until it is revoked.",
        ),
    ] = None,
    home: HomeOption = USUAL_HOME,
) -> None:
    """Make a service token and print it, this once."""
    seconds = None if days is None else _seconds(days)
    request = request_of(ServiceTokenRequest, service=service, expires_in_seconds=seconds)
    created = anyio.run(_create, find_access(home, CliSettings()), request)
    if created.token is None:
        raise Complaint(
            f"The token {created.token_id} was made, but the answer that held it was lost.",
            f"End it with `knowgate tokens revoke {created.token_id}` and make another one.",
        )
    answers().print(created.token, markup=False)
    remarks().print(f"This is {created.token_id}. It is not shown again.", markup=False)


@tokens.command("revoke")
def revoke(
    token_id: Annotated[
        str,
        typer.Argument(metavar="ID", help="The token, of which only the part before its dot is sent, or that part."),
    ],
    home: HomeOption = USUAL_HOME,
) -> None:
    """End a service token for good."""
    token = anyio.run(_revoke, find_access(home, CliSettings()), token_id.partition(".")[0])
    answers().print(f"The token {token.token_id} of {token.service} is revoked.", markup=False)


def _seconds(days: float) -> int:
    if not SHORTEST_TOKEN_LIFE <= days * DAY.total_seconds() <= LONGEST_TOKEN_LIFE:
        raise typer.BadParameter("must be from a minute to 3650 days", param_hint="--days")
    return round(days * DAY.total_seconds())


async def _list(access: Access) -> list[ServiceToken]:
    async with opened(access) as client:
        return await every(client.administration.list_tokens)


async def _create(access: Access, request: ServiceTokenRequest) -> ServiceTokenCreated:
    async with opened(access) as client:
        return await client.administration.create_token(request)


async def _revoke(access: Access, token_id: str) -> ServiceToken:
    async with opened(access) as client:
        return await client.administration.revoke_token(token_id)


def _row(token: ServiceToken) -> tuple[str, ...]:
    return (
        token.token_id,
        token.service,
        token.created_by,
        told_time(token.created_at),
        told_time(token.expires_at),
        told_time(token.revoked_at),
    )
