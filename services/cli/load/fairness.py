"""One tenant queues thousands of documents, and how much longer another one then waits for a single one is measured."""

import math
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import anyio
from rich.console import Console

from services.cli.access import Client, opened
from services.cli.complaints import Complaint
from services.cli.ingest.sources import pieces_of
from services.cli.load.many_files import write_files
from services.cli.settings import CliSettings
from services.cli.spaces import ensure_space
from services.cli.stack import Stack
from shared.client.exchange import Patience
from shared.client.waiting import Waiting, has_succeeded
from shared.contracts.commands import ProviderKind
from shared.contracts.documents import DocumentUploadRequest
from shared.contracts.ids import FileResourceId, OperationId
from shared.contracts.spaces import Space
from shared.contracts.wire import Wire
from shared.domain.operation import OPERATION_END
from shared.providers.scripted.provider import ScriptedProvider
from shared.providers.scripted.script import EVERY_FILE, Script

MOST_RATIO = 3.0
FEWEST_QUEUED = 2000

SPACE = "load"
CROWD, SINGLE = "crowd", "single"
"""The tenants."""
AT_ONCE = 32
CROWD_FILES = 200
"""The crowd's documents are made of these in turns; each is ingested by itself, whatever else its file is in."""
WARM_UP = 3
INGEST_TIME = timedelta(milliseconds=500)
PROVIDER, SCRIPT = "KNOWGATE_PROVIDER_KIND", "KNOWGATE_PROVIDER_SCRIPTED_PATH"
QUEUED_WITHIN = timedelta(minutes=2)
"""When not everything that was wanted is queued by then, the fewest do."""
ONE_WITHIN = timedelta(minutes=5)
PATIENCE = Patience(attempts=50)


class Fairness(Wire):
    """The figures of one run: from the first byte of a file to the end of its operation."""

    queued: int
    samples: int
    idle_p95_ms: float
    loaded_p95_ms: float
    ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What is to be measured."""

    count: int
    """Documents of the crowd."""
    samples: int
    """Documents of the single tenant, before and again beside the crowd."""
    every: timedelta
    """The rest after each of these."""
    provider: ProviderKind
    """The scripted one takes `INGEST_TIME` for each document whatever the machine does; the embedded one shares the
    processors with everything else."""


def run_fairness(trial: Trial, settings: CliSettings, console: Console) -> Fairness:
    """Come up in a temporary home, measure the single tenant, let the crowd in, measure again, go down."""
    with tempfile.TemporaryDirectory(prefix="knowgate-load-") as directory:
        files, script = Path(directory) / "files", Path(directory) / "scripted.sqlite"
        write_files(files, CROWD_FILES + WARM_UP + 2 * trial.samples)
        anyio.run(_tell, script)
        variables = {PROVIDER: trial.provider.value, SCRIPT: str(script)}
        with Stack(Path(directory) / "home", variables=variables) as stack:
            return anyio.run(_measure, stack, sorted(files.iterdir()), trial, settings, console)


async def _tell(script: Path) -> None:
    provider = ScriptedProvider(path=script)
    provider.tell(EVERY_FILE, Script(ingest_time=INGEST_TIME))
    await provider.close()


async def _measure(
    stack: Stack, paths: Sequence[Path], trial: Trial, settings: CliSettings, console: Console
) -> Fairness:
    of_crowd, warming, single = paths[:CROWD_FILES], paths[CROWD_FILES:][:WARM_UP], paths[CROWD_FILES + WARM_UP :]
    async with _tenant(stack, settings, SINGLE) as one, _tenant(stack, settings, CROWD) as crowd:
        await _sample(one, warming, trial.every)
        idle = await _sample(one, single[: trial.samples], trial.every)
        console.print(f"idle: {_told(idle)}")
        queued = await _queue(crowd, of_crowd, trial.count)
        console.print(f"{len(queued)} documents are queued")
        loaded = await _sample(one, single[trial.samples :], trial.every)
        console.print(f"loaded: {_told(loaded)}")
        if (await crowd.client.gateway.get_operation(queued[-1])).status in OPERATION_END:
            raise Complaint("The queue was empty before the last look.", "Queue more with --count.")
    return Fairness(
        queued=len(queued),
        samples=trial.samples,
        idle_p95_ms=percentile(idle, 95),
        loaded_p95_ms=percentile(loaded, 95),
        ratio=round(percentile(loaded, 95) / percentile(idle, 95), 2),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tenant:
    """A tenant with a space of its own."""

    client: Client
    space: Space

    async def send(self, path: Path) -> FileResourceId:
        size = (await anyio.Path(path).stat()).st_size
        file = await self.client.files.upload(path.name, lambda: pieces_of(path, lambda _: None), size=size)
        return file.file_resource_id

    async def post(self, file: FileResourceId, name: str) -> OperationId:
        request = DocumentUploadRequest(file_resource_id=file, document_name=name)
        return (await self.client.gateway.upload_document(self.space.space_id, request)).operation_id


@asynccontextmanager
async def _tenant(stack: Stack, settings: CliSettings, name: str) -> AsyncIterator[_Tenant]:
    access = stack.access(settings.model_copy(update={"tenant": name}))
    async with opened(access, patience=PATIENCE) as client:
        space = await ensure_space(client.gateway, SPACE, domain=settings.domains[0])
        yield _Tenant(client=client, space=space)


async def _sample(tenant: _Tenant, paths: Sequence[Path], every: timedelta) -> list[float]:
    """How many milliseconds each file takes, one after the other."""
    took = []
    for path in paths:
        begun = time.monotonic()
        operation_id = await tenant.post(await tenant.send(path), path.stem)
        waiting = Waiting(within=ONE_WITHIN)
        if not has_succeeded(await waiting.for_operation(tenant.client.gateway, operation_id)):
            raise Complaint(f"{path.name} was not taken in.")
        took.append(round((time.monotonic() - begun) * 1000, 1))
        await anyio.sleep(every.total_seconds())
    return took


@dataclass(slots=True)
class _Queueing:
    """What the crowd has still to post, and what it has posted."""

    left: int
    posted: list[OperationId] = field(default_factory=list)

    async def run(self, tenant: _Tenant, files: Sequence[FileResourceId], until: float) -> None:
        while self.left > 0 and (time.monotonic() < until or len(self.posted) < FEWEST_QUEUED):
            self.left -= 1
            number = self.left
            self.posted.append(await tenant.post(files[number % len(files)], f"Document {number}"))


async def _queue(tenant: _Tenant, paths: Sequence[Path], count: int) -> list[OperationId]:
    """Post as many as fit into the time; in the order of their acceptance."""
    files = [await tenant.send(path) for path in paths]
    queueing = _Queueing(count)
    until = time.monotonic() + QUEUED_WITHIN.total_seconds()
    async with anyio.create_task_group() as group:
        for _ in range(AT_ONCE):
            group.start_soon(queueing.run, tenant, files, until)
    return queueing.posted


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest of the values that so many of a hundred do not exceed."""
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


def _told(took: Sequence[float]) -> str:
    return f"p50 {percentile(took, 50):.0f} ms, p95 {percentile(took, 95):.0f} ms, most {max(took):.0f} ms"
