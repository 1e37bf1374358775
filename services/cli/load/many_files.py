"""A thousand generated Markdown files through `knowgate ingest`, timed, with the memory that it took."""

import random
import tempfile
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import anyio
from rich.console import Console

from services.cli.ingest.job import Job, ingest_into_space
from services.cli.ingest.outcomes import Result
from services.cli.ingest.progress import Report, print_summary
from services.cli.ingest.sources import find_sources
from services.cli.load.memory import Peak, resident_mib
from services.cli.settings import CliSettings
from services.cli.stack import Stack
from shared.contracts.wire import Wire

SPACE = "load"
AT_ONCE = 32
FILE_WITHIN = timedelta(minutes=60)
SECTIONS = (4, 12)
SENTENCES = (3, 8)
SUBJECTS = (
    "The pump",
    "The inspector",
    "Each supplier",
    "The night shift",
    "A visitor",
    "The control unit",
    "备用泵",
    "值班人员",
)
VERBS = ("checks", "records", "replaces", "reports", "approves", "measures", "检查", "更换")
OBJECTS = ("the coupling", "the delivery note", "every seal", "the cooling loop", "the access card", "润滑油", "安全阀")
TIMES = ("before each start", "within two hours", "every six months", "after an alarm", "在每月第一周", "停机之后")


class Load(Wire):
    """The figures of one run."""

    documents: int
    ready: int
    failed: int
    seconds: float
    documents_per_second: float
    api_rss_mib: float
    worker_rss_mib: float


def run_many_files(count: int, workers: int, settings: CliSettings, console: Console) -> Load:
    """Generate the files, come up in a temporary home, ingest them all, go down."""
    with tempfile.TemporaryDirectory(prefix="knowgate-load-") as directory:
        files = Path(directory) / "files"
        write_files(files, count)
        with Stack(Path(directory) / "home", workers=workers) as stack:
            return _ingest(stack, files, settings, console)


def write_files(directory: Path, count: int) -> None:
    """Files like those of a handbook, 1 to 7 KiB each, the same ones every time."""
    directory.mkdir(parents=True)
    dice = random.Random(20260301)  # noqa: S311 - the same text every time, nothing secret
    for number in range(1, count + 1):
        text = "\n".join(_lines(number, dice))
        (directory / f"procedure-{number:05d}.md").write_text(text, encoding="utf-8")


def _lines(number: int, dice: random.Random) -> Iterator[str]:
    yield f"# Procedure {number:05d}\n"
    for section in range(1, dice.randint(*SECTIONS) + 1):
        yield f"## {section} Step {number}.{section}\n"
        yield " ".join(_sentence(dice) for _ in range(dice.randint(*SENTENCES))) + "\n"


def _sentence(dice: random.Random) -> str:
    words = [dice.choice(choice) for choice in (SUBJECTS, VERBS, OBJECTS, TIMES)]
    return f"{' '.join(words)}, form {dice.randint(100, 999)}-{dice.randint(10, 99)}, limit {dice.randint(1, 400)} mm."


def _ingest(stack: Stack, files: Path, settings: CliSettings, console: Console) -> Load:
    children = stack.record().children
    api = Peak(lambda: resident_mib([children["api"]]))
    worker = Peak(lambda: resident_mib(_workers(children)))
    sources = find_sources([files])
    job = Job(
        space_code=SPACE,
        domain=settings.domains[0],
        journals=stack.home.ingests,
        at_once=AT_ONCE,
        within=FILE_WITHIN,
    )
    with api.watched(), worker.watched(), Report(console, total=len(sources)) as report:
        summary = anyio.run(ingest_into_space, stack.access(settings), job, sources, report)
    print_summary(console, summary)
    ready = summary.count(Result.READY)
    seconds = summary.took.total_seconds()
    return Load(
        documents=len(sources),
        ready=ready,
        failed=len(sources) - ready,
        seconds=round(seconds, 1),
        documents_per_second=round(ready / seconds, 2),
        api_rss_mib=round(api.mib, 1),
        worker_rss_mib=round(worker.mib, 1),
    )


def _workers(children: dict[str, int]) -> Sequence[int]:
    return [pid for name, pid in children.items() if name.startswith("worker")]
