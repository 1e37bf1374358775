"""`knowgate operations`: how far accepted work is, and what happens. The gateway offers no list of all of it."""

from contextlib import aclosing
from datetime import timedelta
from typing import Annotated

import anyio
import typer

from services.cli.access import Access, find_access, opened
from services.cli.commands.options import USUAL_HOME, HomeOption
from services.cli.complaints import FAILED
from services.cli.console import answers, remarks
from services.cli.settings import CliSettings
from shared.client.waiting import Waiting, has_succeeded
from shared.contracts.ids import OperationId
from shared.contracts.operations import Operation
from shared.contracts.transition_events import TransitionEvent
from shared.domain.errors import Transient

operations = typer.Typer(no_args_is_help=True, help="Look at accepted work.")

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The id that a 202 has named.")]


@operations.command("get")
def get(operation_id: IdArgument, home: HomeOption = USUAL_HOME) -> None:
    """Show an operation as JSON."""
    operation = anyio.run(_get, find_access(home, CliSettings()), OperationId(operation_id))
    answers().print(operation.model_dump_json(indent=2), markup=False)


@operations.command("watch")
def watch(
    operation_id: IdArgument,
    home: HomeOption = USUAL_HOME,
    minutes: Annotated[float, typer.Option(min=0.1, help="How long to wait for its end.")] = 120,
) -> None:
    """Follow an operation to its end; exit code 1 unless it succeeds."""
    within = timedelta(minutes=minutes)
    operation = anyio.run(_watch, find_access(home, CliSettings()), OperationId(operation_id), within)
    if not has_succeeded(operation):
        raise typer.Exit(FAILED)


@operations.command("follow")
def follow(
    home: HomeOption = USUAL_HOME,
    after: Annotated[
        int | None, typer.Option(min=0, help="Begin behind this event; without it, with the next.")
    ] = None,
) -> None:
    """Show what happens to spaces, documents and operations, as it happens, until Ctrl-C."""
    anyio.run(_follow, find_access(home, CliSettings()), after)


async def _get(access: Access, operation_id: OperationId) -> Operation:
    async with opened(access) as client:
        return await client.gateway.get_operation(operation_id)


async def _watch(access: Access, operation_id: OperationId, within: timedelta) -> Operation:
    console = answers()
    shown = ""

    async def show(operation: Operation) -> None:
        nonlocal shown
        line = _line(operation)
        if line != shown:
            console.print(line, markup=False)
            shown = line

    def tell(error: Transient) -> None:
        nonlocal shown
        line = f"The gateway does not answer, waiting: {error.message}"
        if line != shown:
            console.print(line, markup=False)
            shown = line

    async with opened(access) as client:
        return await Waiting(within=within, seen=show, missed=tell).for_operation(client.gateway, operation_id)


async def _follow(access: Access, after: int | None) -> None:
    console = answers()

    def tell(error: Transient) -> None:
        remarks().print(f"No events for now, trying again: {error.message}", markup=False)

    async with opened(access) as client, aclosing(client.events.follow(after, missed=tell)) as events:
        async for event in events:
            console.print(told(event), markup=False)


def told(event: TransitionEvent) -> str:
    """An event as a line: how the status moved, or what was done when it did not."""
    moved = event.after if event.before is None else f"{event.before} > {event.after}"
    if event.before == event.after:
        moved = f"{event.after}  {event.action}"
    return f"{event.seq:>7}  {event.at:%H:%M:%S}  {event.resource_type.value:<9}  {event.resource_id}  {moved}"


def _line(operation: Operation) -> str:
    words = [operation.operation_type.value, operation.status.value]
    if operation.retry_count:
        words.append(f"retries: {operation.retry_count}")
    if operation.next_retry_at is not None:
        words.append(f"next retry at {operation.next_retry_at:%H:%M:%S} UTC")
    if operation.failure_code is not None:
        words.append(operation.failure_code.value)
    return "  ".join(words)
