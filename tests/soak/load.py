"""A steady mixed load: callers who upload, replace, delete and search, with about the same documents there always."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from shared.client.waiting import has_succeeded
from shared.contracts.documents import DocumentDeleteRequest
from shared.contracts.ids import DocumentId, OperationId
from tests.e2e.conversation import Conversation

CALLERS: Final = 3
HELD: Final = 12
"""Documents that each caller has at a time."""
REST: Final = 0.25
"""Seconds between two acts of a caller."""
SECTIONS: Final = (2, 8)
WORDS: Final = ("pump", "valve", "seal", "coupling", "ferry", "island", "grease", "invoice", "hotel", "train", "week")


@dataclass(slots=True, kw_only=True)
class Load:
    """What was done."""

    documents: int = 0
    """Contents that were ingested: new documents and replacements."""
    deleted: int = 0
    searches: int = 0
    failed: list[OperationId] = field(default_factory=list)
    is_over: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, talk: Conversation, seed: int) -> None:
        """Until it is over; what is under way then is finished."""
        async with asyncio.TaskGroup() as group:
            for number in range(CALLERS):
                group.create_task(_Caller(self, talk, random.Random(seed + number)).run())


@dataclass(slots=True)
class _Caller:
    load: Load
    talk: Conversation
    dice: random.Random
    documents: list[DocumentId] = field(default_factory=list)

    async def run(self) -> None:
        while not self.load.is_over.is_set():
            await self._act()
            await self._search()
            await asyncio.sleep(REST)

    async def _act(self) -> None:
        if len(self.documents) < HELD:
            await self._upload()
        elif self.dice.random() < 0.5:
            await self._replace()
        else:
            await self._delete()

    async def _upload(self) -> None:
        accepted = await self.talk.submit("text.md", self._content())
        self.documents.append(accepted.document_id)
        self.load.documents += await self._ends_well(accepted.operation_id)

    async def _replace(self) -> None:
        accepted = await self.talk.replace(self.dice.choice(self.documents), "text.md", self._content())
        self.load.documents += await self._ends_well(accepted.operation_id)

    async def _delete(self) -> None:
        document_id = self.documents.pop(self.dice.randrange(len(self.documents)))
        document = await self.talk.client.gateway.get_document(document_id)
        request = DocumentDeleteRequest(expected_version=document.lock_version, reason="Its time has come.")
        accepted = await self.talk.client.gateway.delete_document(document_id, request)
        self.load.deleted += await self._ends_well(accepted.operation_id)

    async def _search(self) -> None:
        await self.talk.search(" ".join(self.dice.choices(WORDS, k=3)))
        self.load.searches += 1

    async def _ends_well(self, operation_id: OperationId) -> bool:
        succeeded = has_succeeded(await self.talk.end_of(operation_id))
        if not succeeded:
            self.load.failed.append(operation_id)
        return succeeded

    def _content(self) -> bytes:
        sections = range(1, self.dice.randint(*SECTIONS) + 1)
        return "\n".join(f"## Part {number}\n\n{_sentences(self.dice)}\n" for number in sections).encode()


def _sentences(dice: random.Random) -> str:
    return " ".join(f"{_words(dice, WORDS).capitalize()} {dice.randint(1, 10**9)}." for _ in range(dice.randint(3, 9)))


def _words(dice: random.Random, words: Sequence[str]) -> str:
    return " ".join(dice.choices(words, k=7))
