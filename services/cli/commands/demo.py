"""`knowgate demo`."""

from pathlib import Path
from typing import Annotated

import typer

from services.cli.complaints import Complaint
from services.cli.console import remarks
from services.cli.demo.corpus import USUAL_DIRECTORY, load_corpus
from services.cli.demo.demo import run_demo
from services.cli.settings import CliSettings


def demo(
    corpus: Annotated[
        Path, typer.Option(help="Directory with `files/` and `questions.jsonl`.", show_default=False)
    ] = USUAL_DIRECTORY,
) -> None:
    """Ingest real documents, ask questions, check the cited answers, replace a document under search.

    Everything happens in a temporary directory. The last line of the output is one JSON object.
    """
    console = remarks()
    verdict = run_demo(load_corpus(corpus), CliSettings(), console)
    shortcomings = verdict.shortcomings()
    typer.echo(verdict.model_dump_json(by_alias=False))
    if shortcomings:
        raise Complaint(f"The demo fell short: {'; '.join(shortcomings)}.")
