"""`knowgate load`: figures for those who work on the gateway; hidden from the list of commands."""

from datetime import timedelta
from typing import Annotated

import typer

from services.cli.complaints import Complaint
from services.cli.console import remarks
from services.cli.load.big_file import MOST_GROWTH_MIB, run_big_file
from services.cli.load.fairness import FEWEST_QUEUED, MOST_RATIO, Trial, run_fairness
from services.cli.load.many_files import run_many_files
from services.cli.load.memory import MIB
from services.cli.settings import CliSettings
from shared.contracts.commands import ProviderKind

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


@load.command("fairness")
def fairness(
    count: Annotated[int, typer.Option(min=FEWEST_QUEUED, help="How many documents one tenant queues.")] = 10_000,
    samples: Annotated[int, typer.Option(min=5, help="How many single documents the other one sends.")] = 20,
    every: Annotated[float, typer.Option(min=0, help="Seconds between two of them.")] = 1,
    provider: Annotated[
        ProviderKind, typer.Option(help="scripted: half a second for each document; embedded: what the machine has.")
    ] = ProviderKind.SCRIPTED,
) -> None:
    """Time one tenant's documents beside another's queue; the last line of the output is one JSON object."""
    trial = Trial(count=count, samples=samples, every=timedelta(seconds=every), provider=provider)
    figures = run_fairness(trial, CliSettings(), remarks())
    typer.echo(figures.model_dump_json(by_alias=False))
    if figures.ratio > MOST_RATIO:
        raise Complaint(f"A single document takes {figures.ratio} times as long; {MOST_RATIO:g} is allowed.")
