"""The ingest step on the scripted provider, with a clock that its own naps move."""

from dataclasses import replace
from datetime import timedelta

import pytest

from services.worker.outcomes import Failed, Outcome, Succeeded
from services.worker.steps.ingest import ingest
from services.worker.steps.tools import version_of
from shared.contracts.enums import FailureReason
from shared.contracts.events import VersionIngested
from shared.domain.errors import ProviderUnavailable
from shared.providers.ports import VersionRef
from shared.providers.scripted.provider import ScriptedProvider
from shared.providers.scripted.script import Call, Script
from tests.support.clocks import WallClock
from tests.support.scripted import kept
from tests.support.worker import Commands
from tests.unit.services.worker.fakes import Naps, tools

COMMAND = Commands().ingest()
VERSION = version_of(COMMAND)


class Scene:
    """A provider with an uploaded version, whose time passes while the step sleeps."""

    def __init__(self, script: Script) -> None:
        self.clock, self.progress = WallClock(), list[int]()
        self.naps = Naps()
        self.provider = kept(ScriptedProvider(clock=self.clock))
        self.provider.tell("pump.txt", script)

    async def upload(self) -> VersionRef:
        return replace(VERSION, native_id=await self.provider.upload(VERSION))

    async def run(self, native: str | None = None) -> Outcome:
        async def sleep(seconds: float) -> None:
            self.clock.advance(timedelta(seconds=seconds))
            await self.naps(seconds)

        command = COMMAND.model_copy(update={"native_document_id": native})
        return await ingest(command, replace(tools(self.provider, progress=self.progress), sleep=sleep))


async def test_an_ingest_is_started_followed_and_verified() -> None:
    scene = Scene(Script(ingest_time=timedelta(seconds=3), percents=(10, 60)))
    version = await scene.upload()
    outcome = await scene.run(version.native_id)
    assert outcome == Succeeded(
        VersionIngested(native_document_id="scripted-1", done=True, chunk_count=1, probe_found=True)
    )
    assert set(scene.progress) == {10, 60}


async def test_looks_become_rarer_up_to_their_limit() -> None:
    scene = Scene(Script(ingest_time=timedelta(seconds=10)))
    await scene.run()
    assert scene.naps.taken[0] == pytest.approx(0.1)
    assert scene.naps.taken == sorted(scene.naps.taken)
    assert max(scene.naps.taken) == 1


async def test_what_runs_already_is_followed_and_not_started_again() -> None:
    scene = Scene(Script(ingest_time=timedelta(seconds=3)))
    version = await scene.upload()
    await scene.provider.start_ingest(version, str(version.native_id))
    assert isinstance(await scene.run(version.native_id), Succeeded)
    assert scene.provider.calls(Call.START, "ver_1") == 1


async def test_what_is_done_already_is_only_verified() -> None:
    scene = Scene(Script())
    version = await scene.upload()
    await scene.provider.start_ingest(version, str(version.native_id))
    assert isinstance(await scene.run(version.native_id), Succeeded)
    assert scene.provider.calls(Call.START, "ver_1") == 1


async def test_what_failed_or_was_stopped_before_is_started_again() -> None:
    scene = Scene(Script(failed_ingests=1))
    version = await scene.upload()
    assert isinstance(await scene.run(version.native_id), Failed)
    assert isinstance(await scene.run(version.native_id), Succeeded)


async def test_a_document_that_the_provider_lost_is_uploaded_again() -> None:
    scene = Scene(Script())
    outcome = await scene.run("scripted-77")
    assert isinstance(outcome, Succeeded)
    assert scene.provider.calls(Call.UPLOAD, "ver_1") == 1


async def test_a_failure_without_a_reason_is_an_internal_error() -> None:
    assert await Scene(Script(failed_ingests=1)).run() == Failed(FailureReason.INTERNAL_ERROR)


async def test_a_failure_with_a_reason_keeps_it() -> None:
    scene = Scene(Script(failed_ingests=1, failure=FailureReason.NO_TEXT))
    assert await scene.run() == Failed(FailureReason.NO_TEXT)


async def test_an_ingest_that_somebody_else_stopped_fails_for_now() -> None:
    scene = Scene(Script(ingest_time=timedelta(hours=1)))
    version = await scene.upload()

    def stop() -> None:
        document = scene.provider._find(version)
        assert document is not None
        scene.provider._store.remove(document.native_id, scene.clock())

    scene.naps.then[2] = stop
    with pytest.raises(ProviderUnavailable):
        await scene.run(version.native_id)


async def test_a_result_that_cannot_be_verified_at_once_is_looked_at_for_a_while() -> None:
    scene = Scene(Script(chunks=0))
    scene.naps.then[3] = lambda: scene.provider.tell("pump.txt", Script(chunks=4))
    outcome = await scene.run()
    assert isinstance(outcome, Succeeded)
    assert isinstance(outcome.result, VersionIngested)
    assert outcome.result.chunk_count == 4


async def test_a_result_that_stays_empty_is_told_as_it_is_after_a_while() -> None:
    scene = Scene(Script(chunks=0))
    outcome = await scene.run()
    assert outcome == Succeeded(
        VersionIngested(native_document_id="scripted-1", done=True, chunk_count=0, probe_found=False)
    )
    assert 2 <= sum(scene.naps.taken) < 3.1
