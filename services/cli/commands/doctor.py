"""`knowgate doctor`."""

import os
from collections.abc import Callable
from functools import partial

import typer
from rich.markup import escape

from services.cli.commands.options import USUAL_HOME, HomeOption
from services.cli.complaints import FAILED, Complaint, complaint_of
from services.cli.console import answers
from services.cli.home import Home
from shared.domain.errors import KnowgateError


def doctor(home: HomeOption = USUAL_HOME) -> None:
    """Look at everything that a gateway on this machine needs; exit code 1 when something is missing."""
    # Commands that only ask a gateway should not wait for the libraries of all that is looked at here.
    from services.cli.doctor.checks import CHECKS, Patient  # noqa: PLC0415

    patient, console = Patient(home=Home(home.absolute()), outer=dict(os.environ)), answers()
    failures = 0
    for name, check in CHECKS.items():
        found = _look(partial(check, patient))
        if isinstance(found, Complaint):
            failures += 1
            console.print(f"[red]failed[/]  {name:<9} {escape(found.what)}\n                  {escape(found.remedy)}")
        else:
            console.print(f"[green]ok[/]      {name:<9} {escape(found)}")
    if failures:
        raise typer.Exit(FAILED)


def _look(check: Callable[[], str]) -> str | Complaint:
    try:
        return check()
    except Complaint as complaint:
        return complaint
    except KnowgateError as error:
        return complaint_of(error)
