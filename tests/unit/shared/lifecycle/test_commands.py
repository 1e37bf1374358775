"""Commands are built complete from the state they are about."""

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.contracts.commands import COMMAND_BY_STEP, CancelOperation, SpaceCommand, VersionCommand
from shared.contracts.enums import Step
from shared.contracts.ids import CommandId
from shared.domain.transitions import IllegalMove
from shared.lifecycle.commands import build_command, outbox_row
from tests.property.test_projection import NOW, replacement

WORK = replacement(has_active=True)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize("step", [Step.PROVISION, Step.REMOVE, Step.UPLOAD, Step.INGEST, Step.REINDEX, Step.CANCEL])
def test_each_step_of_an_operation_has_its_command(step: Step) -> None:
    command = build_command(WORK, CommandId("op_1", step, 2, 1), now=NOW, deadline=HOUR)
    assert type(command) is COMMAND_BY_STEP[step]
    assert isinstance(command, SpaceCommand)
    assert (command.command_id, command.operation_id, command.deadline_seconds) == (
        f"op_1.{step.value}.2.1",
        "op_1",
        3600,
    )
    assert command.native_space_id == "native-space"
    if isinstance(command, VersionCommand):
        assert (command.document_id, command.version_id) == ("doc_1", "ver_2")


def test_a_cancel_names_the_command_that_is_to_be_stopped() -> None:
    command = build_command(WORK, CommandId("op_1", Step.CANCEL, 1, 1), now=NOW, deadline=HOUR)
    assert isinstance(command, CancelOperation)
    assert command.work_command_id == "op_1.upload.1.1"


def test_an_operation_without_a_command_has_none_to_cancel() -> None:
    idle = replace(WORK, operation=replace(WORK.operation, work=None))
    with pytest.raises(IllegalMove, match="no command to cancel"):
        build_command(idle, CommandId("op_1", Step.CANCEL, 1, 1), now=NOW, deadline=HOUR)


def test_a_row_waits_unless_its_sender_publishes_it() -> None:
    command = build_command(WORK, CommandId("op_1", Step.UPLOAD, 1, 1), now=NOW, deadline=HOUR)
    waiting = outbox_row(command, traceparent=None, due_at=NOW, now=NOW)
    sent = outbox_row(command, traceparent=None, due_at=NOW, now=NOW, published=True)
    assert (waiting.published_at, sent.published_at) == (None, NOW)
    assert (waiting.owner_id, waiting.step, waiting.body) == ("op_1", Step.UPLOAD, command.to_json())
