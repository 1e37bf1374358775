"""`knowgate up`."""

import os
from typing import Annotated

import typer

from services.cli.commands.options import USUAL_HOME, HomeOption
from services.cli.console import answers
from services.cli.launcher.environment import API_PORT
from services.cli.settings import CliSettings


def up(
    home: HomeOption = USUAL_HOME,
    port: Annotated[
        int | None,
        typer.Option(
            envvar=API_PORT, help="Port of the api; 0 chooses a free one. 8080, or a free one when that is taken."
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
    projectors: Annotated[int, typer.Option(min=1, help="Projector processes; one works, others stand by.")] = 1,
) -> None:
    """Run everything on this machine; Ctrl-C stops it.

    Settings in the environment (KNOWGATE_DATABASE_URL, KNOWGATE_NATS_URL, KNOWGATE_FILES_URL, ...) are passed on:
    a broker, database or object store that is set there is used instead of the home's own.
    """
    # What it starts needs the database; the commands that only ask a gateway should not wait for that.
    from services.cli.launcher.plan import Sizes  # noqa: PLC0415
    from services.cli.launcher.up import Launch, run_up  # noqa: PLC0415

    sizes = Sizes(workers=workers, projectors=projectors)
    run_up(Launch(home=home, port=port, sizes=sizes), CliSettings(), answers(), dict(os.environ))
