"""Ends the provider's work on a version that was cancelled."""

from services.worker.outcomes import Cancelled, Outcome, TooLate
from services.worker.steps.tools import Tools, version_of
from services.worker.steps.withdrawal import Withdrawal, withdraw
from shared.contracts.commands import CancelOperation


async def cancel(command: CancelOperation, tools: Tools) -> Outcome:
    """Stop it, have that confirmed, remove what there is; too late when it is done already."""
    if await withdraw(version_of(command), tools) is Withdrawal.FINISHED:
        return TooLate()
    return Cancelled()
