"""Which function does which step."""

from collections.abc import Awaitable, Callable
from typing import Any

from services.worker.outcomes import Outcome
from services.worker.steps.cancel import cancel
from services.worker.steps.ingest import ingest
from services.worker.steps.provision import provision
from services.worker.steps.purge import purge
from services.worker.steps.purge_file import purge_file
from services.worker.steps.reindex import reindex
from services.worker.steps.remove import remove
from services.worker.steps.tools import Tools
from services.worker.steps.upload import upload
from shared.contracts.enums import Step

StepFunction = Callable[[Any, Tools], Awaitable[Outcome]]
"""Each takes the command of its step; `COMMAND_BY_STEP` says which that is."""

STEPS: dict[Step, StepFunction] = {
    Step.PROVISION: provision,
    Step.REMOVE: remove,
    Step.UPLOAD: upload,
    Step.INGEST: ingest,
    Step.REINDEX: reindex,
    Step.CANCEL: cancel,
    Step.PURGE: purge,
    Step.PURGE_FILE: purge_file,
}

CANCELLABLE = frozenset({Step.UPLOAD, Step.INGEST, Step.REINDEX})
"""The steps whose commands are not worked on once their operation is cancelled."""
