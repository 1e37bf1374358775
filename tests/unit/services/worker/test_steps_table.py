"""The table of steps."""

from services.worker.settings import WorkerSettings
from services.worker.steps.table import CANCELLABLE, STEPS
from shared.contracts.commands import COMMAND_BY_STEP, VersionCommand
from shared.contracts.enums import Step


def test_every_step_has_its_function_and_its_slots() -> None:
    assert set(STEPS) == set(Step)
    assert set(WorkerSettings().slots) == set(Step)


def test_what_may_be_cancelled_is_about_a_version() -> None:
    assert all(issubclass(COMMAND_BY_STEP[step], VersionCommand) for step in CANCELLABLE)
