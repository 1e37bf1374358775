"""`knowgate grants`: who may act on a space or on a document of it."""

from typing import Annotated

import anyio
import typer

from services.cli.access import Access, find_access, opened
from services.cli.commands.options import USUAL_HOME, AnySpaceOption, HomeOption
from services.cli.complaints import Complaint, explain
from services.cli.console import answers
from services.cli.requests import request_of
from services.cli.roles import remark_unusual
from services.cli.settings import CliSettings
from services.cli.spaces import ask_of_space
from services.cli.tables import ABSENT, every, show_table, told_time
from shared.client.administration import Administration
from shared.client.errors import Refused
from shared.contracts.admin import Grant, GrantRequest
from shared.contracts.enums import PrincipalKind
from shared.contracts.errors import ErrorCode
from shared.contracts.ids import SpaceId

grants = typer.Typer(no_args_is_help=True, help="Who may act on a space; it takes effect at once.")

UserOption = Annotated[str | None, typer.Option(help="A user, by the subject of their assertions.")]
GroupOption = Annotated[str | None, typer.Option(help="Everybody in a group.")]
RoleOption = Annotated[str | None, typer.Option(help="Everybody with a role.")]
DocumentOption = Annotated[str | None, typer.Option("--document", help="Id of one document, instead of all of them.")]


@grants.command("list")
def list_(space: AnySpaceOption, home: HomeOption = USUAL_HOME) -> None:
    """List the grants on a space and on its documents."""
    found = anyio.run(_list, find_access(home, CliSettings()), space)
    if not found:
        answers().print("Nothing in this space is granted to anybody.")
        return
    show_table(("to", "name", "document", "by", "since"), [_row(grant) for grant in found])


@grants.command("add")
def add(
    space: AnySpaceOption,
    user: UserOption = None,
    group: GroupOption = None,
    role: RoleOption = None,
    document: DocumentOption = None,
    home: HomeOption = USUAL_HOME,
) -> None:
    """Grant a space, or one document of it, to a user, a group or a role."""
    request = _request(user, group, role, document)
    if role:
        remark_unusual([role])
    grant = anyio.run(_add, find_access(home, CliSettings()), space, request)
    answers().print(f"{_what(grant, space)} is granted to {_whom(grant)}.", markup=False)


@grants.command("remove")
def remove(
    space: AnySpaceOption,
    user: UserOption = None,
    group: GroupOption = None,
    role: RoleOption = None,
    document: DocumentOption = None,
    home: HomeOption = USUAL_HOME,
) -> None:
    """Take such a grant back; other grants stay."""
    request = _request(user, group, role, document)
    grant = anyio.run(_remove, find_access(home, CliSettings()), space, request)
    answers().print(f"{_what(grant, space)} is not granted to {_whom(grant)} any more.", markup=False)


async def _list(access: Access, space: str) -> list[Grant]:
    async with opened(access) as client:
        return await ask_of_space(client.gateway, space, lambda space_id: _all(client.administration, space_id))


async def _add(access: Access, space: str, request: GrantRequest) -> Grant:
    async with opened(access) as client:
        add_grant = client.administration.add_grant
        return await ask_of_space(client.gateway, space, lambda space_id: add_grant(space_id, request))


async def _remove(access: Access, space: str, request: GrantRequest) -> Grant:
    async with opened(access) as client:
        revoke_grant = client.administration.revoke_grant
        try:
            return await ask_of_space(client.gateway, space, lambda space_id: revoke_grant(space_id, request))
        except Refused as refused:
            if refused.code is not ErrorCode.NOT_FOUND:
                raise
            raise Complaint(explain(refused), "`knowgate grants list --space CODE` shows what is.") from None


async def _all(administration: Administration, space_id: SpaceId) -> list[Grant]:
    return await every(lambda page: administration.list_grants(space_id, page))


def _request(user: str | None, group: str | None, role: str | None, document: str | None) -> GrantRequest:
    named = {PrincipalKind.USER: user, PrincipalKind.GROUP: group, PrincipalKind.ROLE: role}
    given = [(kind, name) for kind, name in named.items() if name]
    if len(given) != 1:
        raise typer.BadParameter("give exactly one of --user, --group and --role")
    ((kind, name),) = given
    return request_of(GrantRequest, document_id=document, principal={"kind": kind, "name": name})


def _row(grant: Grant) -> tuple[str, ...]:
    principal = grant.principal
    return (
        principal.kind.value,
        principal.name,
        grant.document_id or ABSENT,
        grant.created_by,
        told_time(grant.created_at),
    )


def _what(grant: Grant, space: str) -> str:
    return f"Space {space}" if grant.document_id is None else f"Document {grant.document_id}"


def _whom(grant: Grant) -> str:
    return f"{grant.principal.kind.value} {grant.principal.name}"
