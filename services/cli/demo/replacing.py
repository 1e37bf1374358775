"""Replaces a document while it is searched for without a pause, and looks for answers that are empty or mixed."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum, unique
from itertools import cycle

import anyio

from services.cli.complaints import Complaint
from shared.client.files import Files
from shared.client.gateway import Gateway
from shared.client.waiting import Waiting, has_succeeded
from shared.contracts.documents import DocumentReplaceRequest
from shared.contracts.ids import DocumentId
from shared.contracts.retrieval import RetrievalMatches, RetrievalRequest, RetrievalResult

SEARCHERS = 2
REPLACED_WITHIN = timedelta(minutes=5)
GOES_ON = timedelta(seconds=1)
"""How long the searches go on after the replacement has ended, for what might come late."""
MARK = "(second edition)"


@unique
class Edition(StrEnum):
    """Of which version a text is."""

    FIRST = "first"
    SECOND = "second"
    MIXED = "mixed"


def second_edition(text: str) -> str:
    """The same text with a mark at the end of every line that is not empty."""
    return "\n".join(f"{line} {MARK}" if line.strip() else line for line in text.splitlines()) + "\n"


def edition_of(contents: Sequence[str]) -> Edition:
    """The edition that all lines of all texts are of."""
    lines = [line for content in contents for line in content.splitlines() if line.strip()]
    marked = sum(MARK in line for line in lines)
    if marked == 0:
        return Edition.FIRST
    return Edition.SECOND if marked == len(lines) else Edition.MIXED


@dataclass(slots=True)
class Observed:
    """What the searches during the replacement answered."""

    searches: int = 0
    gaps: int = 0
    mixed: int = 0
    editions: set[Edition] = field(default_factory=set)

    def add(self, found: RetrievalResult) -> None:
        """Count one answer."""
        self.searches += 1
        if not isinstance(found, RetrievalMatches):
            self.gaps += 1
            return
        edition = edition_of([hit.content for hit in found.hits])
        self.editions.add(edition)
        self.mixed += edition is Edition.MIXED


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A document, the text that takes the place of its content, and questions that it answers before and after."""

    document_id: DocumentId
    file_name: str
    text: str
    questions: Sequence[str]


async def replace_while_searching(gateway: Gateway, files: Files, replacement: Replacement) -> Observed:
    """Replace the document and search it all the while; a Complaint when the replacement fails."""
    observed = Observed()
    is_over = anyio.Event()

    async def search_on() -> None:
        for question in cycle(replacement.questions):
            if is_over.is_set():
                return
            observed.add(await _search(gateway, replacement.document_id, question))

    async with anyio.create_task_group() as tasks:
        for _ in range(SEARCHERS):
            tasks.start_soon(search_on)
        await _replace(gateway, files, replacement)
        await anyio.sleep(GOES_ON.total_seconds())
        is_over.set()
    return observed


async def _search(gateway: Gateway, document_id: DocumentId, question: str) -> RetrievalResult:
    return await gateway.search(RetrievalRequest(query=question, document_ids=(document_id,)))


async def _replace(gateway: Gateway, files: Files, replacement: Replacement) -> None:
    content = replacement.text.encode()

    async def pieces() -> AsyncIterator[bytes]:
        yield content

    document = await gateway.get_document(replacement.document_id)
    resource = await files.upload(replacement.file_name, pieces, size=len(content))
    accepted = await gateway.replace_document(
        replacement.document_id,
        DocumentReplaceRequest(
            file_resource_id=resource.file_resource_id, expected_version=document.lock_version, reason="A new edition"
        ),
    )
    operation = await Waiting(within=REPLACED_WITHIN).for_operation(gateway, accepted.operation_id)
    if not has_succeeded(operation):
        raise Complaint(f"The replacement ended {operation.status.value}.")
