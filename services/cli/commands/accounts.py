"""`knowgate accounts`: users as the gateway itself knows them, and who of them is shut out."""

from typing import Annotated

import anyio
import typer

from services.cli.access import Access, find_access, opened
from services.cli.commands.options import USUAL_HOME, HomeOption, ReasonOption
from services.cli.console import answers
from services.cli.oneself import require_other_subject
from services.cli.requests import request_of
from services.cli.settings import CliSettings
from services.cli.tables import every, show_table, told_names, told_time
from shared.contracts.admin import Account, AccountPutRequest, SwitchRequest
from shared.contracts.ids import SubjectId

accounts = typer.Typer(no_args_is_help=True, help="Users of the tenant; a disabled one is refused at once.")

SubjectArgument = Annotated[str, typer.Argument(metavar="SUBJECT", help="As assertions name the user.")]


@accounts.command("list")
def list_(home: HomeOption = USUAL_HOME) -> None:
    """List the users that the gateway keeps an account of."""
    found = anyio.run(_list, find_access(home, CliSettings()))
    if not found:
        answers().print("The gateway keeps no accounts yet. It needs none of users who have assertions.")
        return
    headings = ("subject", "status", "managed", "groups", "roles", "domains", "changed")
    show_table(headings, [_row(account) for account in found])


@accounts.command("show")
def show(subject: SubjectArgument, home: HomeOption = USUAL_HOME) -> None:
    """Show an account as JSON."""
    account = anyio.run(_show, find_access(home, CliSettings()), SubjectId(subject))
    answers().print(account.model_dump_json(indent=2), markup=False)


@accounts.command("set")
def set_(
    subject: SubjectArgument,
    group: Annotated[list[str] | None, typer.Option(help="A group; may be given several times.")] = None,
    role: Annotated[list[str] | None, typer.Option(help="A role; may be given several times.")] = None,
    domain: Annotated[list[str] | None, typer.Option(help="A security domain; may be given several times.")] = None,
    home: HomeOption = USUAL_HOME,
) -> None:
    """Manage an account here: it has exactly these groups, roles and domains when it comes without an assertion."""
    request = request_of(
        AccountPutRequest, groups=tuple(group or ()), roles=tuple(role or ()), domains=tuple(domain or ())
    )
    account = anyio.run(_put, find_access(home, CliSettings()), SubjectId(subject), request)
    answers().print(
        f"{account.subject} is managed here. Groups: {told_names(account.groups)}; "
        f"roles: {told_names(account.roles)}; domains: {told_names(account.domains)}.",
        markup=False,
    )


@accounts.command("disable")
def disable(subject: SubjectArgument, reason: ReasonOption = None, home: HomeOption = USUAL_HOME) -> None:
    """Shut a user out, whatever their assertions say."""
    access = find_access(home, CliSettings())
    require_other_subject(access, subject, "Another administrator can do it.")
    anyio.run(_switch, access, SubjectId(subject), False, reason)
    answers().print(f"{subject} is shut out.", markup=False)


@accounts.command("enable")
def enable(subject: SubjectArgument, reason: ReasonOption = None, home: HomeOption = USUAL_HOME) -> None:
    """Let a user in again."""
    anyio.run(_switch, find_access(home, CliSettings()), SubjectId(subject), True, reason)
    answers().print(f"{subject} may come in again.", markup=False)


async def _list(access: Access) -> list[Account]:
    async with opened(access) as client:
        return await every(client.administration.list_accounts)


async def _show(access: Access, subject: SubjectId) -> Account:
    async with opened(access) as client:
        return await client.administration.get_account(subject)


async def _put(access: Access, subject: SubjectId, request: AccountPutRequest) -> Account:
    async with opened(access) as client:
        return await client.administration.put_account(subject, request)


async def _switch(access: Access, subject: SubjectId, enabled: bool, reason: str | None) -> Account:
    request = request_of(SwitchRequest, reason=reason)
    async with opened(access) as client:
        switch = client.administration.enable_account if enabled else client.administration.disable_account
        return await switch(subject, request)


def _row(account: Account) -> tuple[str, ...]:
    return (
        account.subject,
        account.status.value,
        "yes" if account.managed else "no",
        told_names(account.groups),
        told_names(account.roles),
        told_names(account.domains),
        told_time(account.updated_at),
    )
