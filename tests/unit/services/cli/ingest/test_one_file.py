"""Files get in once, whatever was interrupted before, and a changed file changes its own document."""

from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from services.cli.ingest.manifest import Manifest
from services.cli.ingest.one_file import Ingestion
from services.cli.ingest.outcomes import Outcome, Result
from services.cli.ingest.run import ingest_all
from services.cli.ingest.sources import find_sources
from shared.contracts.documents import VersionError
from shared.contracts.ids import SpaceId
from tests.unit.services.cli.ingest.gateway import ENCRYPTED, FakeGateway, Lost, Silent


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


class Quiet:
    def finished(self, outcome: Outcome) -> None:
        """Nothing."""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    directory = tmp_path / "files"
    directory.mkdir()
    return directory


async def run(gateway: FakeGateway, files: Path, *, at_once: int = 4) -> list[tuple[str, Result, str]]:
    """One run of `knowgate ingest` over the directory: name, result and reason of each file."""
    with Manifest.opened(files.parent / "journals", SpaceId("spc_1")) as manifest:
        ingestion = Ingestion(
            documents=gateway, uploads=gateway, manifest=manifest, progress=Silent(), within=timedelta(seconds=9)
        )
        summary = await ingest_all(find_sources([files]), ingestion.ingest, at_once=at_once, report=Quiet())
    return [(outcome.source.name, outcome.result, outcome.reason) for outcome in summary.outcomes]


async def test_a_second_run_sends_nothing(files: Path) -> None:
    (files / "a.txt").write_text("one")
    (files / "b.txt").write_text("two")
    gateway = FakeGateway()

    first, second = await run(gateway, files), await run(gateway, files)

    assert first == [("a.txt", Result.READY, ""), ("b.txt", Result.READY, "")]
    assert second == [("a.txt", Result.SKIPPED, "already there"), ("b.txt", Result.SKIPPED, "already there")]
    assert gateway.uploads == 2


async def test_of_files_with_the_same_content_one_is_sent(files: Path) -> None:
    (files / "a.txt").write_text("one")
    (files / "b.txt").write_text("one")
    gateway = FakeGateway()

    assert await run(gateway, files, at_once=1) == [
        ("a.txt", Result.READY, ""),
        ("b.txt", Result.SKIPPED, "same content as a.txt"),
    ]
    assert gateway.uploads == 1


async def test_a_run_that_ended_before_the_answer_came_is_not_repeated_but_finished(files: Path) -> None:
    (files / "a.txt").write_text("one")
    gateway = FakeGateway(lose_answers=True)
    with pytest.raises(ExceptionGroup) as crash:
        await run(gateway, files)
    assert crash.group_contains(Lost)

    gateway.lose_answers = False

    assert await run(gateway, files) == [("a.txt", Result.READY, "")]
    assert gateway.contents() == [("a.txt", digest("one"))]
    assert gateway.uploads == 1


async def test_a_request_that_never_arrived_and_whose_file_has_expired_is_made_anew(files: Path) -> None:
    (files / "a.txt").write_text("one")
    gateway = FakeGateway(lose_answers=True)
    with pytest.raises(ExceptionGroup):
        await run(gateway, files)
    gateway.lose_answers = False
    gateway.answers.clear()
    gateway.documents.clear()
    gateway.expire_resources()

    assert await run(gateway, files) == [("a.txt", Result.READY, "")]
    assert gateway.contents() == [("a.txt", digest("one"))]
    assert gateway.uploads == 2


async def test_a_file_that_has_changed_replaces_the_content_of_its_document(files: Path) -> None:
    (files / "a.txt").write_text("one")
    gateway = FakeGateway()
    await run(gateway, files)

    (files / "a.txt").write_text("two")

    assert await run(gateway, files) == [("a.txt", Result.REPLACED, "")]
    assert gateway.contents() == [("a.txt", digest("two"))]


async def test_a_file_that_was_changed_back_is_sent_again(files: Path) -> None:
    gateway = FakeGateway()
    for text in ("one", "two", "one"):
        (files / "a.txt").write_text(text)
        await run(gateway, files)

    assert gateway.contents() == [("a.txt", digest("one"))]


@pytest.mark.parametrize("at_once", [1, 4])
async def test_files_that_were_swapped_are_both_still_there(files: Path, at_once: int) -> None:
    (files / "a.txt").write_text("one")
    gateway = FakeGateway()
    await run(gateway, files)

    (files / "a.txt").rename(files / "z.txt")
    (files / "a.txt").write_text("two")
    await run(gateway, files, at_once=at_once)
    await run(gateway, files, at_once=at_once)

    assert sorted(content for _, content in gateway.contents()) == sorted([digest("one"), digest("two")])


async def test_a_file_that_was_moved_and_another_in_its_place_keep_apart(files: Path) -> None:
    (files / "b.txt").write_text("one")
    gateway = FakeGateway()
    await run(gateway, files)

    (files / "b.txt").rename(files / "a.txt")
    await run(gateway, files)
    (files / "b.txt").write_text("two")

    assert await run(gateway, files) == [("a.txt", Result.SKIPPED, "already there"), ("b.txt", Result.READY, "")]
    assert len(gateway.documents) == 2


async def test_a_document_that_was_deleted_is_made_anew(files: Path) -> None:
    (files / "a.txt").write_text("one")
    gateway = FakeGateway()
    await run(gateway, files)
    gateway.documents.clear()

    assert await run(gateway, files) == [("a.txt", Result.READY, "")]
    assert gateway.contents() == [("a.txt", digest("one"))]


async def test_what_can_never_succeed_is_told_and_not_tried_again(files: Path) -> None:
    (files / "a.txt").write_text("locked")
    gateway = FakeGateway(failing={digest("locked"): ENCRYPTED})

    first, second = await run(gateway, files), await run(gateway, files)

    assert first == [("a.txt", Result.FAILED, "The file is encrypted. [FILE_ENCRYPTED]")]
    assert second[0][1] is Result.FAILED
    assert "It failed before" in second[0][2]
    assert gateway.uploads == 1


async def test_what_failed_for_a_while_is_tried_again_in_the_same_document(files: Path) -> None:
    (files / "a.txt").write_text("one")
    away = VersionError(code="PROVIDER_UNAVAILABLE", message="The provider is away.", retryable=True)
    gateway = FakeGateway(failing={digest("one"): away})
    assert (await run(gateway, files))[0][1] is Result.FAILED

    gateway.failing.clear()

    assert await run(gateway, files) == [("a.txt", Result.REPLACED, "")]
    assert len(gateway.documents) == 1


async def test_a_file_that_cannot_be_read_fails_alone(files: Path) -> None:
    (files / "a.txt").write_text("one")
    (files / "b.txt").write_text("two")
    sources = find_sources([files])
    (files / "a.txt").unlink()
    gateway = FakeGateway()

    with Manifest.opened(files.parent / "journals", SpaceId("spc_1")) as manifest:
        ingestion = Ingestion(
            documents=gateway, uploads=gateway, manifest=manifest, progress=Silent(), within=timedelta(seconds=9)
        )
        summary = await ingest_all(sources, ingestion.ingest, at_once=2, report=Quiet())

    assert [outcome.result for outcome in summary.outcomes] == [Result.FAILED, Result.READY]
    assert summary.failures[0].reason == "No such file or directory"
