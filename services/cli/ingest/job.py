"""One ingestion: which space, what is remembered, how many files at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from services.cli.access import Access, opened
from services.cli.ingest.manifest import Manifest
from services.cli.ingest.one_file import Ingestion, Progress
from services.cli.ingest.outcomes import Summary
from services.cli.ingest.run import Finished, ingest_all
from services.cli.ingest.sources import Source
from services.cli.spaces import ensure_space, require_space
from shared.client.exchange import Patience

PATIENCE = Patience(attempts=20, longest_wait=timedelta(seconds=5))
"""An ingestion outlasts a restart of the gateway, and waits when that says that it has too much to do."""


class Follows(Progress, Finished, Protocol):
    """Is told everything about every file."""


MAKE_IT = "Check the spelling, or make it with --create."


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is to be done."""

    space_code: str
    domain: str | None
    """The security domain in which a missing space is made; None when it must be there."""
    journals: Path
    at_once: int
    within: timedelta
    """How long one file may take."""


async def ingest_into_space(access: Access, job: Job, sources: Sequence[Source], report: Follows) -> Summary:
    """Ingest the files and tell what became of each."""
    async with opened(access, patience=PATIENCE) as client:
        if job.domain is None:
            space = await require_space(client.gateway, job.space_code, remedy=MAKE_IT)
        else:
            space = await ensure_space(client.gateway, job.space_code, domain=job.domain)
        with Manifest.opened(job.journals, space.space_id) as manifest:
            ingestion = Ingestion(
                documents=client.gateway, uploads=client.files, manifest=manifest, progress=report, within=job.within
            )
            return await ingest_all(sources, ingestion.ingest, at_once=job.at_once, report=report)
