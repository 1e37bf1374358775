"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from services.cli.home import DEFAULT_HOME

HomeOption = Annotated[
    Path, typer.Option("--home", envvar="KNOWGATE_HOME", help="Directory of the local gateway.", show_default=True)
]
SpaceOption = Annotated[str, typer.Option("--space", help="Code of the space.")]
AnySpaceOption = Annotated[
    str, typer.Option("--space", help="Code of the space, or its id if you may manage but not see it.")
]
ReasonOption = Annotated[str | None, typer.Option(help="Why; the audit keeps it.")]
NeededReasonOption = Annotated[str, typer.Option("--reason", help="Why; the audit keeps it.")]
USUAL_HOME = DEFAULT_HOME
