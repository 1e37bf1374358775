"""`knowgate operations`: how far accepted work is, why what has not ended has not, and what happens."""

import math
from contextlib import aclosing
from datetime import timedelta
from typing import Annotated

import anyio
import typer
from pydantic import TypeAdapter, ValidationError

from services.cli.access import Access, find_access, opened
from services.cli.commands.options import USUAL_HOME, HomeOption, NeededReasonOption
from services.cli.complaints import FAILED
from services.cli.console import answers, remarks
from services.cli.requests import request_of
from services.cli.settings import CliSettings
from services.cli.tables import every, show_table, told_time
from shared.client.waiting import Waiting, has_succeeded
from shared.contracts.ids import OperationId
from shared.contracts.operating import LONGEST_AGE, UnfinishedOperation
from shared.contracts.operations import Operation, OperationReasonRequest
from shared.contracts.transition_events import TransitionEvent
from shared.domain.errors import Transient
from shared.telemetry.durations import PositiveDuration

operations = typer.Typer(no_args_is_help=True, help="Look at accepted work, and end what is stuck.")

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


@operations.command("list")
def list_(
    overdue: Annotated[
        bool, typer.Option("--overdue", help="Only those that have not moved for longer than they should.")
    ] = False,
    older_than: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="Overdue after so long: seconds, or ISO 8601 such as PT10M."),
    ] = None,
    home: HomeOption = USUAL_HOME,
) -> None:
    """List the operations that have not ended, and why not, the one that has been still for longest first."""
    seconds = None if older_than is None else _whole_seconds(older_than)
    found = anyio.run(_list, find_access(home, CliSettings()), overdue or older_than is not None, seconds)
    if not found:
        answers().print("Nothing is overdue." if overdue or older_than else "Every operation has ended.")
        return
    headings = ("id", "type", "status", "reason", "overdue", "still since", "explanation")
    show_table(headings, [_row(unfinished) for unfinished in found])


@operations.command("explain")
def explain(operation_id: IdArgument, home: HomeOption = USUAL_HOME) -> None:
    """Tell why an operation has not ended, and what can be done."""
    unfinished = anyio.run(_explain, find_access(home, CliSettings()), OperationId(operation_id))
    console = answers()
    console.print(_line(unfinished.operation), markup=False)
    console.print(f"{unfinished.reason.value}: {unfinished.explanation}", markup=False)
    overdue = ", which is overdue" if unfinished.overdue else ""
    console.print(f"It has been still since {told_time(unfinished.still_since)}{overdue}.", markup=False)


@operations.command("fail")
def fail(operation_id: IdArgument, reason: NeededReasonOption, home: HomeOption = USUAL_HOME) -> None:
    """End an operation as FAILED, whatever it waits for; what it may still come to is not used."""
    request = request_of(OperationReasonRequest, reason=reason)
    operation = anyio.run(_fail, find_access(home, CliSettings()), OperationId(operation_id), request)
    again = " It can be retried." if operation.retryable else ""
    answers().print(f"{operation.operation_id} is {operation.status.value}.{again}", markup=False)


async def _list(access: Access, overdue: bool, older_than_seconds: int | None) -> list[UnfinishedOperation]:
    async with opened(access) as client:
        return await every(
            lambda page: client.operating.list_unfinished(page, overdue=overdue, older_than_seconds=older_than_seconds)
        )


async def _explain(access: Access, operation_id: OperationId) -> UnfinishedOperation:
    async with opened(access) as client:
        return await client.operating.get_unfinished(operation_id)


async def _fail(access: Access, operation_id: OperationId, request: OperationReasonRequest) -> Operation:
    async with opened(access) as client:
        return await client.operating.fail_operation(operation_id, request)


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


def _whole_seconds(written: str) -> int:
    """A duration as settings have them; the gateway takes whole seconds, from one to a year."""
    try:
        seconds = math.ceil(TypeAdapter(PositiveDuration).validate_python(written).total_seconds())
    except ValidationError:
        seconds = 0
    if not 1 <= seconds <= LONGEST_AGE:
        raise typer.BadParameter("must be seconds or ISO 8601, up to 365 days", param_hint="--older-than")
    return seconds


def _row(unfinished: UnfinishedOperation) -> tuple[str, ...]:
    operation = unfinished.operation
    return (
        operation.operation_id,
        operation.operation_type.value,
        operation.status.value,
        unfinished.reason.value,
        "yes" if unfinished.overdue else "no",
        told_time(unfinished.still_since),
        unfinished.explanation,
    )


def _line(operation: Operation) -> str:
    words = [operation.operation_type.value, operation.status.value]
    if operation.retry_count:
        words.append(f"retries: {operation.retry_count}")
    if operation.next_retry_at is not None:
        words.append(f"next retry at {operation.next_retry_at:%H:%M:%S} UTC")
    if operation.failure_code is not None:
        words.append(operation.failure_code.value)
    return "  ".join(words)
