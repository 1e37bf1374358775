"""`knowgate dead-letters`: messages that nobody could read or apply, and what becomes of them."""

from typing import Annotated

import anyio
import typer

from services.cli.access import Access, find_access, opened
from services.cli.commands.options import USUAL_HOME, HomeOption, NeededReasonOption
from services.cli.console import answers
from services.cli.requests import request_of
from services.cli.settings import CliSettings
from services.cli.tables import ABSENT, every, show_table, told_time
from shared.contracts.enums import LetterStatus
from shared.contracts.ids import LetterId
from shared.contracts.operating import DeadLetter, DeadLetterFull
from shared.contracts.operations import OperationReasonRequest

dead_letters = typer.Typer(no_args_is_help=True, help="Messages that could not be read or applied.")

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The dead letter's id.")]


@dead_letters.command("list")
def list_(
    status: Annotated[
        LetterStatus, typer.Option(case_sensitive=False, help="What has become of them.")
    ] = LetterStatus.OPEN,
    home: HomeOption = USUAL_HOME,
) -> None:
    """List the dead letters in one status, the oldest first."""
    found = anyio.run(_list, find_access(home, CliSettings()), status)
    if not found:
        answers().print(f"No dead letter is {status.value}.")
        return
    show_table(("id", "kind", "status", "of", "since", "error"), [_row(letter) for letter in found])


@dead_letters.command("show")
def show(letter_id: IdArgument, home: HomeOption = USUAL_HOME) -> None:
    """Show a dead letter with its message as JSON."""
    letter = anyio.run(_show, find_access(home, CliSettings()), LetterId(letter_id))
    answers().print(letter.model_dump_json(indent=2), markup=False)


@dead_letters.command("replay")
def replay(letter_id: IdArgument, reason: NeededReasonOption, home: HomeOption = USUAL_HOME) -> None:
    """Have the event in a dead letter applied again."""
    request = request_of(OperationReasonRequest, reason=reason)
    letter = anyio.run(_replay, find_access(home, CliSettings()), LetterId(letter_id), request)
    answers().print(f"{letter.letter_id} is {letter.status.value}: the projector applies it in a moment.", markup=False)


@dead_letters.command("discard")
def discard(letter_id: IdArgument, reason: NeededReasonOption, home: HomeOption = USUAL_HOME) -> None:
    """Give a dead letter up; what it is about goes on as if the message had never come."""
    request = request_of(OperationReasonRequest, reason=reason)
    letter = anyio.run(_discard, find_access(home, CliSettings()), LetterId(letter_id), request)
    answers().print(f"{letter.letter_id} is {letter.status.value}.", markup=False)


async def _list(access: Access, status: LetterStatus) -> list[DeadLetter]:
    async with opened(access) as client:
        return await every(lambda page: client.operating.list_letters(page, status=status))


async def _show(access: Access, letter_id: LetterId) -> DeadLetterFull:
    async with opened(access) as client:
        return await client.operating.get_letter(letter_id)


async def _replay(access: Access, letter_id: LetterId, request: OperationReasonRequest) -> DeadLetter:
    async with opened(access) as client:
        return await client.operating.replay_letter(letter_id, request)


async def _discard(access: Access, letter_id: LetterId, request: OperationReasonRequest) -> DeadLetter:
    async with opened(access) as client:
        return await client.operating.discard_letter(letter_id, request)


def _row(letter: DeadLetter) -> tuple[str, ...]:
    return (
        letter.letter_id,
        letter.kind.value,
        letter.status.value,
        letter.owner_id or ABSENT,
        told_time(letter.created_at),
        letter.error,
    )
