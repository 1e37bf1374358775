"""The parts of the admin API, put together."""

from services.api.admin.accounts import AccountRoutes
from services.api.admin.audit import AuditRoutes
from services.api.admin.dead_letters import LetterRoutes
from services.api.admin.grants import GrantRoutes
from services.api.admin.reconciliations import ReconciliationRoutes
from services.api.admin.revocations import RevocationRoutes
from services.api.admin.spaces import SpaceSwitches
from services.api.admin.tokens import TokenRoutes
from services.api.admin.unfinished import UnfinishedRoutes
from services.api.audit.trail import AuditTrail
from services.api.broker.workers import WorkerLook
from services.api.moves import Moves

AdminFeature = (
    GrantRoutes
    | AccountRoutes
    | RevocationRoutes
    | TokenRoutes
    | SpaceSwitches
    | UnfinishedRoutes
    | LetterRoutes
    | ReconciliationRoutes
    | AuditRoutes
)


def admin_features(moves: Moves, trail: AuditTrail, most_items: int, look: WorkerLook) -> tuple[AdminFeature, ...]:
    """Every feature that has routes under `/admin/v1`."""
    return (
        GrantRoutes(moves=moves, trail=trail, most_items=most_items),
        AccountRoutes(moves=moves, trail=trail, most_items=most_items),
        RevocationRoutes(moves=moves, trail=trail, most_items=most_items),
        TokenRoutes(moves=moves, trail=trail, most_items=most_items),
        SpaceSwitches(moves=moves),
        UnfinishedRoutes(moves=moves, trail=trail, most_items=most_items, look=look),
        LetterRoutes(moves=moves, trail=trail, most_items=most_items),
        ReconciliationRoutes(moves=moves, trail=trail, most_items=most_items),
        AuditRoutes(moves=moves, trail=trail),
    )
