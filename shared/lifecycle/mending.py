"""What every repair of a reconciliation is given beside the difference that it puts right."""

from dataclasses import dataclass
from datetime import datetime

from shared.contracts.ids import ReconciliationId
from shared.lifecycle.surroundings import Surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class Mending:
    """Within which reconciliation something is put right, and what had settled by then: nothing else is judged."""

    reconciliation_id: ReconciliationId
    settled_before: datetime
    around: Surroundings
