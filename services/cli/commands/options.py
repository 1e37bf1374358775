"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from services.cli.home import DEFAULT_HOME

HomeOption = Annotated[
    Path, typer.Option("--home", envvar="KNOWGATE_HOME", help="Directory of the local gateway.", show_default=True)
]
SpaceOption = Annotated[str, typer.Option("--space", help="Code of the space.")]
USUAL_HOME = DEFAULT_HOME
