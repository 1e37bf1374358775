"""The scripted provider does what it is told, by the clock it is given."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.contracts.enums import FailureReason
from shared.domain.errors import ContentRejected, NotFound, ProviderThrottled, ProviderUnavailable
from shared.providers.ports import IngestState, Question, VersionRef
from shared.providers.scripted.provider import ScriptedProvider
from shared.providers.scripted.script import EVERY_FILE, Call, Faults, Script
from tests.support.provider_samples import space_ref, version_ref
from tests.support.scripted import kept

SPACE = space_ref()
VERSION = version_ref(SPACE)


class Scene:
    """A provider in memory with a clock that a test moves."""

    def __init__(self, script: Script) -> None:
        self.now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
        self.provider = kept(ScriptedProvider(clock=lambda: self.now))
        self.provider.tell(EVERY_FILE, script)

    async def begin(self) -> str:
        native_id = await self.provider.upload(VERSION)
        await self.provider.start_ingest(VERSION, native_id)
        return native_id

    async def state_after(self, seconds: float, version: VersionRef = VERSION) -> IngestState:
        self.now += timedelta(seconds=seconds)
        found = await self.provider.find(version)
        assert found is not None
        return found.state

    async def percent_after(self, seconds: float) -> int | None:
        self.now += timedelta(seconds=seconds)
        found = await self.provider.find(VERSION)
        assert found is not None
        return found.percent


async def test_an_ingest_takes_the_time_that_it_is_told() -> None:
    scene = Scene(Script(ingest_time=timedelta(seconds=10)))
    await scene.begin()
    assert await scene.state_after(9.9) is IngestState.RUNNING
    assert await scene.state_after(0.1) is IngestState.DONE


async def test_progress_may_run_backwards() -> None:
    scene = Scene(Script(ingest_time=timedelta(seconds=10), percents=(50, 20)))
    await scene.begin()
    assert [await scene.percent_after(seconds) for seconds in (1, 5, 5)] == [50, 20, 100]


async def test_ingests_fail_as_often_as_told_and_then_succeed() -> None:
    scene = Scene(Script(failed_ingests=2, failure=FailureReason.PARSER_CRASHED))
    native_id = await scene.begin()
    states = []
    for _ in range(3):
        states.append(await scene.state_after(0))
        await scene.provider.start_ingest(VERSION, native_id)
    assert states == [IngestState.FAILED, IngestState.FAILED, IngestState.DONE]


async def test_a_failed_ingest_says_why_when_told() -> None:
    scene = Scene(Script(failed_ingests=1, failure=FailureReason.FILE_ENCRYPTED))
    await scene.begin()
    found = await scene.provider.find(VERSION)
    assert found is not None
    assert found.failure is FailureReason.FILE_ENCRYPTED


async def test_a_stop_is_obeyed_or_ignored() -> None:
    obedient, deaf = (
        Scene(Script(ingest_time=timedelta(hours=1))),
        Scene(Script(ingest_time=timedelta(hours=1), ignores_stop=True)),
    )
    for scene in (obedient, deaf):
        await scene.provider.stop_ingest(VERSION, await scene.begin())
    assert await obedient.state_after(0) is IngestState.CANCELLED
    assert await deaf.state_after(0) is IngestState.RUNNING


async def test_what_was_stopped_may_turn_out_done_later() -> None:
    scene = Scene(Script(ingest_time=timedelta(hours=1), late_success=timedelta(seconds=5)))
    await scene.provider.stop_ingest(VERSION, await scene.begin())
    assert await scene.state_after(4) is IngestState.CANCELLED
    assert await scene.state_after(1) is IngestState.DONE


async def test_calls_go_wrong_in_their_order_and_then_well() -> None:
    faults = Faults(unavailable=1, throttled=1, retry_after=timedelta(seconds=7), lost=1)
    scene = Scene(Script(faults={Call.UPLOAD: faults}))
    with pytest.raises(ProviderUnavailable):
        await scene.provider.upload(VERSION)
    assert await scene.provider.find(VERSION) is None
    with pytest.raises(ProviderThrottled) as throttled:
        await scene.provider.upload(VERSION)
    assert throttled.value.retry_after == timedelta(seconds=7)
    with pytest.raises(ProviderUnavailable, match="lost"):
        await scene.provider.upload(VERSION)
    found = await scene.provider.find(VERSION)
    assert found is not None
    assert await scene.provider.upload(VERSION) == found.native_id
    assert scene.provider.calls(Call.UPLOAD, VERSION.version_id) == 4


async def test_the_provider_may_have_forgotten_a_document_for_a_while() -> None:
    calls = (Call.FIND, Call.START, Call.PROBE)
    scene = Scene(Script(faults={call: Faults(absent=1) for call in calls}))
    native_id = await scene.provider.upload(VERSION)
    assert await scene.provider.find(VERSION) is None
    with pytest.raises(NotFound):
        await scene.provider.start_ingest(VERSION, native_id)
    await scene.provider.start_ingest(VERSION, native_id)
    assert [await scene.provider.probe(VERSION, native_id) for _ in range(2)] == [False, True]
    assert await scene.state_after(0) is IngestState.DONE


async def test_chunks_may_be_counted_late() -> None:
    scene = Scene(Script(chunks_lag=timedelta(seconds=5)))
    await scene.begin()
    counts = []
    for seconds in (0, 4.9, 0.1):
        scene.now += timedelta(seconds=seconds)
        found = await scene.provider.find(VERSION)
        assert found is not None
        counts.append((found.state, found.chunk_count))
    assert counts == [(IngestState.DONE, 0), (IngestState.DONE, 0), (IngestState.DONE, 1)]


def test_a_call_goes_wrong_in_one_way_by_its_number() -> None:
    faults = Faults(unavailable=1, absent=2, deadly=1)
    assert [faults.of_call(number) for number in range(1, 6)] == ["unavailable", "absent", "absent", "deadly", None]


async def test_a_file_may_be_refused_for_good() -> None:
    scene = Scene(Script(rejects=FailureReason.FILE_UNSUPPORTED))
    with pytest.raises(ContentRejected) as refusal:
        await scene.provider.upload(VERSION)
    assert refusal.value.reason is FailureReason.FILE_UNSUPPORTED


async def test_chunks_and_probe_may_disappoint() -> None:
    scene = Scene(Script(chunks=0, is_unreadable=True))
    native_id = await scene.begin()
    found = await scene.provider.find(VERSION)
    assert found is not None
    assert (found.state, found.chunk_count) == (IngestState.DONE, 0)
    assert not await scene.provider.probe(VERSION, native_id)


async def test_searches_may_show_what_was_removed_for_a_while() -> None:
    scene = Scene(Script(removal_lag=timedelta(seconds=30)))
    native_id = await scene.begin()
    await scene.provider.remove(SPACE, native_id=native_id, name_prefix=VERSION.version_id)
    question = Question(text=VERSION.name, allowed=[(SPACE, [native_id])], limit=5)
    (lagging,) = await scene.provider.search(question)
    scene.now += timedelta(seconds=30)
    (caught_up,) = await scene.provider.search(question)
    assert (len(lagging.passages), len(caught_up.passages)) == (1, 0)
    assert await scene.provider.list_documents(SPACE) == []


async def test_searches_may_bring_foreign_hits() -> None:
    scene = Scene(Script(foreign_hits=True))
    native_id = await scene.begin()
    (ranking,) = await scene.provider.search(Question(text="txt", allowed=[(SPACE, ["another"])], limit=5))
    assert [passage.native_document_id for passage in ranking.passages] == [native_id]


async def test_a_script_holds_for_one_file_or_for_all_others() -> None:
    provider = kept(ScriptedProvider())
    provider.tell(EVERY_FILE, Script(rejects=FailureReason.FILE_CORRUPT))
    provider.tell("good.txt", Script())
    await provider.upload(version_ref(SPACE, 2, name="good.txt"))
    with pytest.raises(ContentRejected):
        await provider.upload(version_ref(SPACE, 3, name="other.txt"))


async def test_an_unknown_native_id_belongs_to_nothing() -> None:
    provider = kept(ScriptedProvider())
    assert await provider.find(replace(VERSION, native_id="ragflow-7")) is None
