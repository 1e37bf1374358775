"""Searches and citations tell only of what was active meanwhile, and never nothing where something was."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Self

from tests.chaos.oracle.intervals import Interval, common, times_in
from tests.chaos.oracle.world import Answer, Hit, Version, World
from tests.chaos.texts import digest_of

SLACK: Final = timedelta(milliseconds=500)
"""A commit's time is taken a moment before others see it, by a process that may have to wait for its turn."""
NEVER: Final[Sequence[Interval]] = ()


def foreign_or_stale(world: World) -> Iterator[str]:
    """Hits of other tenants, of documents that were not active, of versions that were not theirs, and mixed ones."""
    yield from world.foreign
    served = Served.of(world)
    for answer in world.answers:
        texts: defaultdict[str, set[str]] = defaultdict(set)
        for hit in answer.hits:
            texts[hit.document_id] |= hit.marks
            complaint = served.complaint(world, answer, hit)
            if complaint is not None:
                yield f"{_of(answer)} {complaint}"
        for document_id, marks in texts.items():
            if len(marks) > 1:
                yield f"{_of(answer)} mixed {sorted(marks)} of {document_id}"


def missing(world: World) -> Iterator[str]:
    """Answers without any of the documents that have been there all the time."""
    for answer in world.answers:
        if answer.expected and not answer.expected & {hit.document_id for hit in answer.hits}:
            yield f"{_of(answer)} found none of {sorted(answer.expected)}, with {len(answer.hits)} hits"


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """When what could be found."""

    versions: Mapping[str, Sequence[Interval]]
    documents: Mapping[str, Sequence[Interval]]
    spaces: Mapping[str, Sequence[Interval]]
    of_document: Mapping[str, Sequence[Version]]

    @classmethod
    def of(cls, world: World) -> Self:
        """As the audit tells it."""
        of_document: defaultdict[str, list[Version]] = defaultdict(list)
        for version in world.versions.values():
            of_document[version.document_id].append(version)
        return cls(
            versions=times_in(world.transitions, "VERSION", "READY"),
            documents=times_in(world.transitions, "DOCUMENT", "ACTIVE"),
            spaces=times_in(world.transitions, "SPACE", "ACTIVE"),
            of_document=of_document,
        )

    def complaint(self, world: World, answer: Answer, hit: Hit) -> str | None:
        """What is wrong with a hit, if anything."""
        document = world.documents.get(hit.document_id)
        if document is None or document.tenant != answer.tenant:
            return f"told of document {hit.document_id}, which is not this tenant's"
        digests = {digest_of(mark) for mark in hit.marks}
        fitting = [
            version
            for version in self.of_document.get(document.id, ())
            if version.sha256 in digests and hit.version_id in {None, version.id}
        ]
        asked = [(answer.asked_at - SLACK, answer.answered_at + SLACK)]
        shown = common(asked, self.documents.get(document.id, NEVER))
        shown = common(shown, self.spaces.get(document.space_id, NEVER))
        if not shown:
            return f"told of document {document.id}, which was not active then"
        if not any(common(shown, self.versions.get(version.id, NEVER)) for version in fitting):
            times = {version.id: self.versions.get(version.id, NEVER) for version in fitting}
            return f"told {sorted(hit.marks)} of document {document.id}, which were active {times}"
        return None


def _of(answer: Answer) -> str:
    times = f"{answer.asked_at:%H:%M:%S.%f} to {answer.answered_at:%H:%M:%S.%f}"
    return f"a search or citation of {answer.tenant}, {times},"
