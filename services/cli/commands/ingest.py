"""`knowgate ingest`."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

import anyio
import typer

from services.cli.access import find_access
from services.cli.commands.options import USUAL_HOME, HomeOption, SpaceOption
from services.cli.complaints import FAILED, Complaint
from services.cli.console import remarks
from services.cli.ingest.job import Job, ingest_into_space
from services.cli.ingest.progress import Report, print_summary
from services.cli.ingest.sources import find_sources
from services.cli.settings import CliSettings


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files, and directories with all that is in them.")],
    space: SpaceOption,
    home: HomeOption = USUAL_HOME,
    create: Annotated[bool, typer.Option("--create", help="Make the space when it is missing.")] = False,
    at_once: Annotated[int, typer.Option("--at-once", min=1, max=64, help="Files that are under way together.")] = 16,
    minutes: Annotated[float, typer.Option("--minutes", min=0.1, help="How long one file may take.")] = 120,
) -> None:
    """Bring files into a space, each content once; a second run goes on where the first one was stopped.

    A file that has changed since it was ingested replaces the content of its document. What was sent is remembered
    in the home, by space and SHA-256.
    """
    settings, console = CliSettings(), remarks()
    sources = find_sources(paths)
    if not sources:
        raise Complaint("There are no files in these directories.", "Hidden files are left out.")
    job = Job(
        space_code=space,
        domain=settings.domains[0] if create and settings.domains else None,
        journals=home / "ingest",
        at_once=at_once,
        within=timedelta(minutes=minutes),
    )
    with Report(console, total=len(sources)) as report:
        summary = anyio.run(ingest_into_space, find_access(home, settings), job, sources, report)
    print_summary(console, summary)
    if summary.failures:
        raise typer.Exit(FAILED)
