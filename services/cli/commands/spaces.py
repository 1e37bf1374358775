"""`knowgate spaces`: take a space out of use and back into it."""

import anyio
import typer

from services.cli.access import Access, find_access, opened
from services.cli.commands.options import USUAL_HOME, AnySpaceOption, HomeOption, ReasonOption
from services.cli.console import answers
from services.cli.requests import request_of
from services.cli.settings import CliSettings
from services.cli.spaces import ask_of_space
from shared.contracts.admin import SwitchRequest
from shared.contracts.spaces import Space

spaces = typer.Typer(no_args_is_help=True, help="Take a space out of use and back into it.")


@spaces.command("disable")
def disable(space: AnySpaceOption, reason: ReasonOption = None, home: HomeOption = USUAL_HOME) -> None:
    """Refuse changes and searches in a space; what is in it stays as it is."""
    found = anyio.run(_switch, find_access(home, CliSettings()), space, False, reason)
    answers().print(f"Space {found.code} is {found.status.value}.", markup=False)


@spaces.command("enable")
def enable(space: AnySpaceOption, reason: ReasonOption = None, home: HomeOption = USUAL_HOME) -> None:
    """Take a space into use again."""
    found = anyio.run(_switch, find_access(home, CliSettings()), space, True, reason)
    answers().print(f"Space {found.code} is {found.status.value}.", markup=False)


async def _switch(access: Access, space: str, enabled: bool, reason: str | None) -> Space:
    request = request_of(SwitchRequest, reason=reason)
    async with opened(access) as client:
        switch = client.administration.enable_space if enabled else client.administration.disable_space
        return await ask_of_space(client.gateway, space, lambda space_id: switch(space_id, request))
