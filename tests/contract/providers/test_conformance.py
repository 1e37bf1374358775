"""What every provider must do, whichever it is."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from shared.contracts.enums import FailureReason
from shared.contracts.ids import SpaceId, VersionId
from shared.domain.errors import NotFound
from shared.providers.ports import IngestState, NativeDocument, Passage, Question, SpaceRef, VersionRef
from tests.contract.providers.factories import FACTORIES, OpenProvider
from tests.support.provider_samples import FolderOfFiles, source_file, space_ref

PUMP = b"""Maintenance of the circulation pump

The bearing of the circulation pump is greased every four hundred operating hours with lithium grease.

Before the housing is opened the shutoff valve must be closed and the motor disconnected from the mains.
"""
HOLIDAY = b"""Holiday rules

Employees apply for holiday with their supervisor at least three weeks before the first day of absence.

Unused holiday of the past year expires at the end of March.
"""
MAY_START = {IngestState.IDLE, IngestState.FAILED, IngestState.CANCELLED}


class Bench:
    """A provider with files, a provisioned space, and the calls that a worker makes."""

    def __init__(self, provider: OpenProvider, files: FolderOfFiles, space: SpaceRef) -> None:
        self.provider, self.files, self.space = provider, files, space

    def version(self, number: int, content: bytes = PUMP, *, space: SpaceRef | None = None) -> VersionRef:
        """A version whose file is stored."""
        version_id = VersionId(f"ver_{number:04}")
        self.files.put(version_id, content)
        source = source_file(content, key=version_id, name="manual.txt")
        return VersionRef(space=space or self.space, version_id=version_id, source=source)

    async def other_space(self) -> SpaceRef:
        """A second provisioned space."""
        space = space_ref(2, kind=self.provider.kind)
        return replace(space, native_id=await self.provider.writes.provision(space))

    async def find(self, version: VersionRef) -> NativeDocument:
        """The version's document, which must be there."""
        found = await self.provider.writes.find(version)
        assert found is not None
        return found

    async def ingest(self, version: VersionRef) -> NativeDocument:
        """Upload and ingest as a worker does; the document when it is done."""
        native_id = await self.provider.writes.upload(version)
        found = await self.find(version)
        if found.state in MAY_START:
            await self.provider.writes.start_ingest(version, native_id)
        ended = await self.ended(version)
        assert ended.state is IngestState.DONE, ended
        return ended

    async def ended(self, version: VersionRef) -> NativeDocument:
        """The version's document when nothing runs any more."""
        deadline = time.monotonic() + self.provider.patience.total_seconds()
        found = await self.find(version)
        while found.state is IngestState.RUNNING:
            assert time.monotonic() < deadline, found
            await asyncio.sleep(0.02)
            found = await self.find(version)
        return found

    async def search(self, text: str, allowed: Sequence[tuple[SpaceRef, Sequence[str]]]) -> list[Passage]:
        """Every passage of every channel."""
        rankings = await self.provider.reads.search(Question(text=text, allowed=allowed, limit=20))
        return [passage for ranking in rankings for passage in ranking.passages]

    async def names(self, space: SpaceRef | None = None) -> list[str]:
        """The names of what a space holds."""
        return sorted(document.name for document in await self.provider.reads.list_documents(space or self.space))


@pytest.fixture(params=list(FACTORIES.values()), ids=list(FACTORIES))
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Bench]:
    objects, kept = tmp_path / "objects", tmp_path / "kept"
    objects.mkdir()
    kept.mkdir()
    files = FolderOfFiles(objects)
    async with request.param(kept, files) as provider:
        space = space_ref(1, kind=provider.kind)
        native_id = await provider.writes.provision(space)
        yield Bench(provider, files, replace(space, native_id=native_id))


async def test_a_space_is_provisioned_once(bench: Bench) -> None:
    unprovisioned = replace(bench.space, native_id=None)
    assert await bench.provider.writes.provision(unprovisioned) == bench.space.native_id
    assert await bench.provider.writes.provision(bench.space) == bench.space.native_id


async def test_a_new_space_is_empty(bench: Bench) -> None:
    assert await bench.names() == []


async def test_a_version_is_uploaded_once_under_its_own_name(bench: Bench) -> None:
    version = bench.version(1)
    first = await bench.provider.writes.upload(version)
    assert await bench.provider.writes.upload(version) == first
    assert await bench.names() == ["ver_0001.txt"]


async def test_a_lost_answer_of_an_upload_is_made_up_by_name(bench: Bench) -> None:
    version = bench.version(1)
    native_id = await bench.provider.writes.upload(version)
    assert (await bench.find(version)).native_id == native_id
    assert (await bench.find(replace(version, native_id=native_id))).native_id == native_id


async def test_of_several_documents_of_one_name_the_oldest_stays(bench: Bench) -> None:
    if bench.provider.plant is None:
        pytest.skip("it cannot hold two documents of one name")
    version = bench.version(1)
    oldest = bench.provider.plant(version)
    bench.provider.plant(version)
    assert await bench.provider.writes.upload(version) == oldest
    assert await bench.names() == ["ver_0001.txt"]


async def test_a_version_that_was_never_uploaded_is_not_found(bench: Bench) -> None:
    assert await bench.provider.writes.find(bench.version(1)) is None


async def test_an_upload_of_a_file_that_is_gone_says_so(bench: Bench) -> None:
    version = bench.version(1)
    await bench.files.delete(version.source.object_key)
    assert await _failure_of(bench, version) is FailureReason.FILE_MISSING


async def _failure_of(bench: Bench, version: VersionRef) -> FailureReason | None:
    """A provider may read the file at its upload or at its ingest."""
    try:
        await bench.provider.writes.start_ingest(version, await bench.provider.writes.upload(version))
    except NotFound:
        return FailureReason.FILE_MISSING
    return (await bench.ended(version)).failure


async def test_an_uploaded_version_may_be_ingested_and_is_then_done_with_chunks(bench: Bench) -> None:
    version = bench.version(1)
    await bench.provider.writes.upload(version)
    assert (await bench.find(version)).state is IngestState.IDLE
    done = await bench.ingest(version)
    assert done.chunk_count > 0
    assert await bench.provider.writes.probe(version, done.native_id)


async def test_a_start_of_what_is_done_changes_nothing(bench: Bench) -> None:
    version = bench.version(1)
    done = await bench.ingest(version)
    await bench.provider.writes.start_ingest(version, done.native_id)
    assert (await bench.ingest(version)).chunk_count == done.chunk_count


async def test_a_version_that_is_not_done_does_not_pass_a_probe(bench: Bench) -> None:
    version = bench.version(1)
    native_id = await bench.provider.writes.upload(version)
    assert not await bench.provider.writes.probe(version, native_id)


async def test_a_stop_of_what_does_not_run_changes_nothing(bench: Bench) -> None:
    version = bench.version(1)
    done = await bench.ingest(version)
    await bench.provider.writes.stop_ingest(version, done.native_id)
    assert (await bench.find(version)).state is IngestState.DONE


async def test_exactly_one_document_is_removed_by_its_id(bench: Bench) -> None:
    first, second = await bench.ingest(bench.version(1)), await bench.ingest(bench.version(2, HOLIDAY))
    await bench.provider.writes.remove(bench.space, native_id=first.native_id, name_prefix="ver_0001")
    assert await bench.names() == [second.name]


async def test_without_an_id_all_documents_of_the_name_are_removed(bench: Bench) -> None:
    await bench.ingest(bench.version(1))
    kept = await bench.ingest(bench.version(2, HOLIDAY))
    await bench.provider.writes.remove(bench.space, native_id=None, name_prefix="ver_0001")
    assert await bench.names() == [kept.name]


async def test_a_removal_may_be_repeated_and_may_find_nothing(bench: Bench) -> None:
    done = await bench.ingest(bench.version(1))
    for _ in range(2):
        await bench.provider.writes.remove(bench.space, native_id=done.native_id, name_prefix="ver_0001")
        await bench.provider.writes.remove(bench.space, native_id=None, name_prefix="ver_0001")
    assert await bench.provider.writes.find(bench.version(1)) is None
    assert await bench.names() == []


async def test_what_was_removed_is_neither_found_nor_read(bench: Bench) -> None:
    done = await bench.ingest(bench.version(1))
    (passage, *_) = await bench.search("circulation pump grease", [(bench.space, [done.native_id])])
    await bench.provider.writes.remove(bench.space, native_id=done.native_id, name_prefix="ver_0001")
    assert await bench.search("circulation pump grease", [(bench.space, [done.native_id])]) == []
    with pytest.raises(NotFound):
        await bench.provider.reads.read(bench.space, done.native_id, passage.place, 10, 10)


async def test_a_version_may_be_uploaded_and_ingested_again_after_its_removal(bench: Bench) -> None:
    version = bench.version(1)
    before = await bench.ingest(version)
    await bench.provider.writes.remove(bench.space, native_id=before.native_id, name_prefix="ver_0001")
    after = await bench.ingest(version)
    assert await bench.search("circulation pump grease", [(bench.space, [after.native_id])])


async def test_a_search_finds_the_passage_that_answers(bench: Bench) -> None:
    pump, holiday = await bench.ingest(bench.version(1)), await bench.ingest(bench.version(2, HOLIDAY))
    hits = await bench.search(
        "bearing of the circulation pump greased", [(bench.space, [pump.native_id, holiday.native_id])]
    )
    assert hits[0].native_document_id == pump.native_id
    assert "lithium grease" in hits[0].text
    assert all(0 <= hit.score <= 1 for hit in hits)


async def test_a_search_returns_only_allowed_documents(bench: Bench) -> None:
    await bench.ingest(bench.version(1))
    holiday = await bench.ingest(bench.version(2, HOLIDAY))
    hits = await bench.search("circulation pump holiday", [(bench.space, [holiday.native_id])])
    assert {hit.native_document_id for hit in hits} == {holiday.native_id}


async def test_a_search_in_which_nothing_is_allowed_finds_nothing(bench: Bench) -> None:
    await bench.ingest(bench.version(1))
    assert await bench.search("circulation pump", []) == []
    assert await bench.search("circulation pump", [(bench.space, [])]) == []


async def test_a_search_goes_through_several_spaces_and_through_no_other(bench: Bench) -> None:
    other = await bench.other_space()
    here, there = await bench.ingest(bench.version(1)), await bench.ingest(bench.version(2, space=other))
    both = await bench.search("circulation pump", [(bench.space, [here.native_id]), (other, [there.native_id])])
    assert {hit.native_document_id for hit in both} == {here.native_id, there.native_id}
    mixed_up = await bench.search("circulation pump", [(bench.space, [there.native_id])])
    assert mixed_up == []


async def test_a_search_returns_no_more_than_its_limit(bench: Bench) -> None:
    done = [await bench.ingest(bench.version(number)) for number in range(1, 5)]
    allowed = [(bench.space, [document.native_id for document in done])]
    rankings = await bench.provider.reads.search(Question(text="circulation pump", allowed=allowed, limit=2))
    assert rankings
    assert all(len(ranking.passages) <= 2 for ranking in rankings)


async def test_a_place_is_read_back_with_what_stands_around_it(bench: Bench) -> None:
    done = await bench.ingest(bench.version(1))
    (hit, *_) = await bench.search("shutoff valve closed motor disconnected", [(bench.space, [done.native_id])])
    context = await bench.provider.reads.read(bench.space, done.native_id, hit.place, 30, 30)
    assert context.matched == hit.text
    assert len(context.before) <= 30
    assert len(context.after) <= 30
    wide = await bench.provider.reads.read(bench.space, done.native_id, hit.place, 10_000, 10_000)
    assert "circulation pump" in wide.before + wide.matched
    assert "disconnected from the mains" in wide.matched + wide.after


async def test_a_place_of_a_document_that_never_was_is_not_found(bench: Bench) -> None:
    done = await bench.ingest(bench.version(1))
    (hit, *_) = await bench.search("circulation pump", [(bench.space, [done.native_id])])
    with pytest.raises(NotFound):
        await bench.provider.reads.read(bench.space, "never-was", hit.place, 0, 0)


async def test_everything_in_a_space_is_listed_and_nothing_else(bench: Bench) -> None:
    other = await bench.other_space()
    await bench.ingest(bench.version(1))
    await bench.provider.writes.upload(bench.version(2))
    await bench.ingest(bench.version(3, space=other))
    listed = {document.name: document.state for document in await bench.provider.reads.list_documents(bench.space)}
    assert listed == {"ver_0001.txt": IngestState.DONE, "ver_0002.txt": IngestState.IDLE}


async def test_a_removed_space_takes_its_documents_with_it_and_may_be_removed_again(bench: Bench) -> None:
    other = await bench.other_space()
    kept = await bench.ingest(bench.version(3, space=other))
    gone = await bench.ingest(bench.version(1))
    for _ in range(2):
        await bench.provider.writes.remove_space(bench.space)
    assert await bench.search("circulation pump", [(other, [kept.native_id])])
    assert await _found_in_removed(bench, gone.native_id) == []


async def test_a_space_is_removed_also_when_nobody_noted_how_the_provider_calls_it(bench: Bench) -> None:
    gone = await bench.ingest(bench.version(1))
    await bench.provider.writes.remove_space(replace(bench.space, native_id=None))
    assert await _found_in_removed(bench, gone.native_id) == []


async def _found_in_removed(bench: Bench, native_id: str) -> list[Passage]:
    """A provider may answer a search in a space that is gone with nothing, or with NotFound."""
    try:
        return await bench.search("circulation pump", [(bench.space, [native_id])])
    except NotFound:
        return []


async def test_a_space_that_never_was_may_be_removed(bench: Bench) -> None:
    never = replace(space_ref(9, kind=bench.provider.kind), space_id=SpaceId("spc_9999"))
    await bench.provider.writes.remove_space(never)


async def test_a_provider_that_can_serve_says_so(bench: Bench) -> None:
    await bench.provider.reads.check()
