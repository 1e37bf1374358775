"""`knowgate`: the command line. It puts the commands together and tells people what went wrong."""

import signal
import sys
from collections.abc import Iterator

import typer
from pydantic import ValidationError
from rich.markup import escape

from services.cli.commands.accounts import accounts
from services.cli.commands.audit import audit
from services.cli.commands.dead_letters import dead_letters
from services.cli.commands.demo import demo
from services.cli.commands.doctor import doctor
from services.cli.commands.grants import grants
from services.cli.commands.ingest import ingest
from services.cli.commands.load import load
from services.cli.commands.migrate import migrate
from services.cli.commands.operations import operations
from services.cli.commands.reconcile import reconcile
from services.cli.commands.revoke import revoke
from services.cli.commands.search import search
from services.cli.commands.spaces import spaces
from services.cli.commands.token import token
from services.cli.commands.tokens import tokens
from services.cli.commands.up import up
from services.cli.complaints import Complaint, complaint_of
from services.cli.console import remarks
from shared.domain.errors import KnowgateError


def build() -> typer.Typer:
    """The command line with all its commands."""
    app = typer.Typer(
        name="knowgate",
        help="A Knowledge Gateway: hand it documents, get cited evidence back.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for command in (up, demo, ingest, search, token, doctor, migrate, reconcile):
        app.command()(command)
    app.add_typer(operations, name="operations")
    app.add_typer(dead_letters, name="dead-letters")
    app.add_typer(audit, name="audit")
    app.add_typer(grants, name="grants")
    app.add_typer(accounts, name="accounts")
    app.add_typer(tokens, name="tokens")
    app.add_typer(revoke, name="revoke")
    app.add_typer(spaces, name="spaces")
    app.add_typer(load, name="load", hidden=True)
    return app


def run() -> None:
    """The program. Expected errors end it with a sentence; any other is a bug and shows itself whole.

    SIGTERM ends it as Ctrl-C does, so that what it has started is stopped and what it has made is removed.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        build()()
    except (Complaint, KnowgateError, ValidationError) as error:
        _complain(_in_words(error))
    except ExceptionGroup as group:
        expected = next((error for error in _leaves(group) if isinstance(error, Complaint | KnowgateError)), None)
        if expected is None:
            raise
        _complain(_in_words(expected))


def _in_words(error: Complaint | KnowgateError | ValidationError) -> Complaint:
    match error:
        case Complaint():
            return error
        case KnowgateError():
            return complaint_of(error)
        case ValidationError():
            faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
            return Complaint(
                f"A setting of {error.title} is wrong: {faults}.", "Settings come from KNOWGATE_* variables."
            )


def _leaves(group: ExceptionGroup[Exception]) -> Iterator[Exception]:
    for error in group.exceptions:
        if isinstance(error, ExceptionGroup):
            yield from _leaves(error)
        else:
            yield error


def _complain(complaint: Complaint) -> None:
    console = remarks()
    console.print(f"[bold red]Error:[/] {escape(complaint.what)}", soft_wrap=True)
    if complaint.remedy:
        console.print(escape(complaint.remedy), soft_wrap=True)
    sys.exit(complaint.exit_code)


if __name__ == "__main__":
    run()
