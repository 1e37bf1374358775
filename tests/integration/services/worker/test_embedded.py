"""A worker with the embedded engine: real parsing and embedding in children, from command to event."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from shared.contracts.commands import ProviderKind
from shared.contracts.enums import FailureClass, FailureReason
from shared.contracts.events import StepFailed, StepSucceeded, VersionIngested
from tests.support.messaging import messaging_settings
from tests.support.worker import PROFILE, Commands, Desk, Place, desk_at, source, store_file, worker_at

EMBEDDED = PROFILE.model_copy(update={"kind": ProviderKind.EMBEDDED})


@pytest.fixture
async def desk(nats_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    monkeypatch.setenv("KNOWGATE_EMBEDDED_INDEX", str(tmp_path / "index.sqlite"))
    place = Place(root=tmp_path, messaging=messaging_settings(nats_url))
    async with desk_at(place) as desk, worker_at(place):
        yield desk


async def test_a_text_is_parsed_embedded_and_verified(desk: Desk) -> None:
    await desk.issue(Commands().reindex().model_copy(update={"profile": EMBEDDED}))
    ended = await desk.ending()
    assert isinstance(ended, StepSucceeded)
    assert isinstance(ended.result, VersionIngested)
    assert ended.result.is_verified


async def test_a_file_that_cannot_be_parsed_fails_for_good_and_harms_nothing(desk: Desk) -> None:
    store_file(desk.place, b"PK\x03\x04 cut off", key="objects/2")
    broken = Commands(number=2, file=source(key="objects/2", content=b"PK\x03\x04 cut off", name="report.docx"))
    file = broken.file.model_copy(
        update={"content_type": "application/vnd.openxmlformats-officedocument.wordprocessingml.document"}
    )
    broken = replace(broken, file=file)
    await desk.issue(broken.reindex().model_copy(update={"profile": EMBEDDED}))
    await desk.issue(Commands(number=1).reindex().model_copy(update={"profile": EMBEDDED}))
    endings = {ending.owner_id: ending for ending in await desk.endings(2)}
    failed = endings["op_2"]
    assert isinstance(failed, StepFailed)
    assert (failed.failure_class, failed.reason) == (FailureClass.PERMANENT, FailureReason.FILE_CORRUPT)
    assert isinstance(endings["op_1"], StepSucceeded)
