"""The demo from an empty home to the verdict."""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import anyio
from rich.console import Console
from rich.markup import escape

from services.cli.access import Access, Client, opened
from services.cli.complaints import Complaint
from services.cli.demo.asking import Asked, Interview
from services.cli.demo.corpus import Corpus
from services.cli.demo.replacing import Edition, Observed, Replacement, replace_while_searching, second_edition
from services.cli.ingest.job import Job, ingest_into_space
from services.cli.ingest.outcomes import Summary
from services.cli.ingest.progress import Report, print_summary
from services.cli.ingest.sources import find_sources
from services.cli.settings import CliSettings
from services.cli.spaces import require_space
from services.cli.stack import Stack
from shared.contracts.documents import Document
from shared.contracts.enums import DocumentStatus, VersionStatus
from shared.contracts.wire import Wire

SPACE = "demo"
DOCUMENT_WITHIN = timedelta(minutes=10)
LEAST_DOCUMENTS = 12
LEAST_FORMATS = 8
LEAST_QUESTIONS = 50
LEAST_RIGHT_CITATION = 0.95
LEAST_RIGHT_FIRST = 0.7
SAMPLES = 3


class Verdict(Wire):
    """What came of the demo. The shares are of the questions."""

    documents: int
    ready: int
    formats: int
    questions: int
    right_citation: float
    right_first: float
    search_during_replace: int
    gaps: int
    mixed: int
    seconds: float

    def shortcomings(self) -> list[str]:
        """The bars that were not reached."""
        bars = {
            f"there are fewer than {LEAST_DOCUMENTS} documents": self.documents >= LEAST_DOCUMENTS,
            f"there are fewer than {LEAST_FORMATS} formats": self.formats >= LEAST_FORMATS,
            f"there are fewer than {LEAST_QUESTIONS} questions": self.questions >= LEAST_QUESTIONS,
            f"{self.documents - self.ready} documents are not READY": self.ready == self.documents,
            f"right_citation is below {LEAST_RIGHT_CITATION}": self.right_citation >= LEAST_RIGHT_CITATION,
            f"right_first is below {LEAST_RIGHT_FIRST}": self.right_first >= LEAST_RIGHT_FIRST,
            "no search ran during the replacement": self.search_during_replace > 0,
            f"{self.gaps} answers were empty during the replacement": self.gaps == 0,
            f"{self.mixed} answers mixed two versions": self.mixed == 0,
        }
        return [what for what, is_reached in bars.items() if not is_reached]


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the parts of the demo brought."""

    ingested: Summary
    ready: int
    """Documents that serve a READY version, as the gateway lists them."""
    asked: Sequence[Asked]
    observed: Observed


def run_demo(corpus: Corpus, settings: CliSettings, console: Console) -> Verdict:
    """Come up in a temporary home, do all of it, go down."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="knowgate-demo-") as directory:
        console.print(f"[bold]Starting[/] the gateway in {directory}")
        with Stack(Path(directory)) as stack:
            findings = anyio.run(_show, stack.access(settings), corpus, settings, Path(directory), console)
            console.print("[bold]Stopping[/] everything")
    took = timedelta(seconds=time.monotonic() - started)
    return _verdict(corpus, findings, took)


async def _show(access: Access, corpus: Corpus, settings: CliSettings, home: Path, console: Console) -> Findings:
    console.print(f"[bold]Ingesting[/] {len(corpus.files)} files of {len(corpus.formats)} formats")
    ingested = await _ingest(access, corpus, settings, home, console)
    async with opened(access) as client:
        space = await require_space(client.gateway, SPACE)
        ready = [one async for one in client.gateway.all_documents(space.space_id) if _is_ready(one)]
        names = {
            outcome.document_id: outcome.source.path.stem
            for outcome in ingested.outcomes
            if outcome.document_id is not None
        }
        console.print(f"[bold]Asking[/] {len(corpus.questions)} questions")
        interview = Interview(gateway=client.gateway, space_id=space.space_id, names=names)
        asked = await interview.ask_all(corpus.questions)
        _print_answers(console, asked)
        observed = await _replace(client, corpus, ingested, console)
    return Findings(ingested=ingested, ready=len(ready), asked=asked, observed=observed)


async def _ingest(access: Access, corpus: Corpus, settings: CliSettings, home: Path, console: Console) -> Summary:
    job = Job(space_code=SPACE, domain=settings.domains[0], journals=home / "ingest", at_once=8, within=DOCUMENT_WITHIN)
    sources = find_sources(corpus.files)
    with Report(console, total=len(sources)) as report:
        summary = await ingest_into_space(access, job, sources, report)
    print_summary(console, summary)
    return summary


async def _replace(client: Client, corpus: Corpus, ingested: Summary, console: Console) -> Observed:
    replacement = _choose(corpus, ingested)
    console.print(f"[bold]Replacing[/] {escape(replacement.file_name)} while it is searched")
    observed = await replace_while_searching(client.gateway, client.files, replacement)
    if not {Edition.FIRST, Edition.SECOND} <= observed.editions:
        raise Complaint("The searches did not see both versions of the replaced document.")
    console.print(f"  {observed.searches} searches, {observed.gaps} empty, {observed.mixed} mixed")
    return observed


def _choose(corpus: Corpus, ingested: Summary) -> Replacement:
    """The first Markdown document that questions are asked about."""
    for outcome in ingested.outcomes:
        path = outcome.source.path
        questions = [one.question for one in corpus.questions if path.stem in one.documents]
        if path.suffix.lower() == ".md" and questions and outcome.document_id is not None:
            text = second_edition(path.read_text(encoding="utf-8"))
            return Replacement(document_id=outcome.document_id, file_name=path.name, text=text, questions=questions)
    raise Complaint("The corpus has no Markdown document that a question is asked about.")


def _is_ready(document: Document) -> bool:
    active = document.active_version
    return document.status is DocumentStatus.ACTIVE and active is not None and active.status is VersionStatus.READY


def _print_answers(console: Console, asked: Sequence[Asked]) -> None:
    """A line for each question: whether the first hit is right, whether a right one is cited, and the first hit."""
    for one in asked:
        first = "[green]✓[/]" if one.is_right_first else "[yellow]–[/]"
        cited = "[green]✓[/]" if one.is_right_cited else "[red]✗[/]"
        place = " › ".join([one.first.document_name, *one.first.chapter_path[-1:]]) if one.first else "nothing"
        _print(console, f"{first}{cited} {escape(one.question.question)}  [dim]{escape(place)}[/]")
    console.print()
    for one in [one for one in asked if one.source is not None][:SAMPLES]:
        _print_source(console, one)


def _print_source(console: Console, one: Asked) -> None:
    """A citation as it was read back, the cited text among what stands around it."""
    if one.source is None:
        return
    before, matched, after = one.source.before_content, one.source.matched_content, one.source.after_content
    _print(console, f"[bold]{escape(one.question.question)}[/]")
    _print(console, f"[dim]…{escape(before[-80:])}[/]{escape(matched[:300])}[dim]{escape(after[:80])}…[/]\n")


def _print(console: Console, text: str) -> None:
    console.print(text, soft_wrap=True)


def _verdict(corpus: Corpus, findings: Findings, took: timedelta) -> Verdict:
    asked, observed = findings.asked, findings.observed
    count = max(1, len(asked))
    return Verdict(
        documents=len(findings.ingested.outcomes),
        ready=findings.ready,
        formats=len(corpus.formats),
        questions=len(asked),
        right_citation=round(sum(one.is_right_cited for one in asked) / count, 4),
        right_first=round(sum(one.is_right_first for one in asked) / count, 4),
        search_during_replace=observed.searches,
        gaps=observed.gaps,
        mixed=observed.mixed,
        seconds=round(took.total_seconds(), 1),
    )
