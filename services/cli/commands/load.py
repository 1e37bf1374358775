"""`knowgate load`: figures for those who work on the gateway; hidden from the list of commands."""

from typing import Annotated

import typer

from services.cli.complaints import Complaint
from services.cli.console import remarks
from services.cli.load.big_file import MOST_GROWTH_MIB, run_big_file
from services.cli.load.many_files import run_many_files
from services.cli.load.memory import MIB
from services.cli.settings import CliSettings

load = typer.Typer(no_args_is_help=True, help="Measure a gateway of its own under load.")


@load.command("many-files")
def many_files(
    count: Annotated[int, typer.Option(min=1, help="How many files.")] = 1000,
    workers: Annotated[int, typer.Option(min=1, help="How many worker processes.")] = 1,
) -> None:
    """Ingest generated Markdown files; the last line of the output is one JSON object."""
    figures = run_many_files(count, workers, CliSettings(), remarks())
    typer.echo(figures.model_dump_json(by_alias=False))
    if figures.failed:
        raise Complaint(f"{figures.failed} files were not ingested.")


@load.command("big-file")
def big_file(mib: Annotated[int, typer.Option(min=1, help="Size in MiB.")] = 1024) -> None:
    """Upload one big file; the last line of the output is one JSON object."""
    figures = run_big_file(mib * MIB, CliSettings(), remarks())
    typer.echo(figures.model_dump_json(by_alias=False))
    if figures.api_rss_growth_mib >= MOST_GROWTH_MIB:
        raise Complaint(f"The api grew by {figures.api_rss_growth_mib} MiB; less than {MOST_GROWTH_MIB} is allowed.")
