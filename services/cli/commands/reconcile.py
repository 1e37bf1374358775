"""`knowgate reconcile`: compare what the gateway knows with what provider and object store hold."""

from datetime import timedelta
from typing import Annotated, Final

import anyio
import typer

from services.cli.access import Access, find_access, opened
from services.cli.commands.options import USUAL_HOME, HomeOption
from services.cli.complaints import Complaint
from services.cli.console import answers
from services.cli.reconciling import Patience, count_remaining, reconcile_once
from services.cli.settings import CliSettings
from services.cli.tables import ABSENT, show_table
from shared.client.errors import StillRunning
from shared.contracts.enums import ReconciliationStatus
from shared.contracts.operating import Finding, Reconciliation, ReconciliationRequest

FOUND: Final = 3
"""The exit code when something is left that is not as it should be."""


def reconcile(
    apply: Annotated[bool, typer.Option("--apply", help="Repair what is found, instead of only reporting it.")] = False,
    minutes: Annotated[float, typer.Option(min=0.1, help="How long to wait for its end.")] = 60,
    home: HomeOption = USUAL_HOME,
) -> None:
    """Compare what is known of the tenant with what provider and object store hold, and show what does not fit.

    Exit code 0 when nothing is left that is not as it should be, 3 when something is, 1 when it could not be compared.
    """
    request = ReconciliationRequest(apply=apply)
    done = anyio.run(_reconcile, find_access(home, CliSettings()), request, timedelta(minutes=minutes))
    if done.status is ReconciliationStatus.FAILED:
        raise Complaint(
            f"The reconciliation {done.reconciliation_id} failed: {done.error or 'it does not say why'}",
            "Run it again; what it has repaired stays repaired.",
        )
    _show(done)
    if count_remaining(done):
        raise typer.Exit(FOUND)


async def _reconcile(access: Access, request: ReconciliationRequest, within: timedelta) -> Reconciliation:
    async with opened(access) as client:
        try:
            return await reconcile_once(client.operating, request, Patience(within=within))
        except StillRunning as error:
            raise Complaint(error.message, "It goes on by itself. Is a projector running?") from None


def _show(done: Reconciliation) -> None:
    totals = {kind: number for kind, number in done.totals.items() if number}
    if not totals:
        answers().print("Everything is as it should be.")
        return
    show_table(("finding", "number"), [(kind.value, str(number)) for kind, number in sorted(totals.items())])
    show_table(("finding", "outcome", "of", "explanation"), [_row(finding) for finding in done.findings])


def _row(finding: Finding) -> tuple[str, ...]:
    """What it is about is the most particular thing that it names."""
    of = finding.operation_id or finding.version_id or finding.file_id or finding.document_id or finding.space_id
    return (finding.kind.value, finding.outcome.value, of or ABSENT, finding.explanation)
