"""What the application is put together from: every part ready to be used, opened by whoever runs the process."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.api.audit.trail import AuditTrail
from services.api.broker.outgoing import Outgoing
from services.api.broker.presence import BrokerPresence
from services.api.broker.room import Room
from services.api.broker.workers import WorkerLook
from services.api.edge.identity import Authenticates
from services.api.health.readiness import Check
from services.api.limits.limits import Limits
from services.api.metrics import ApiMetrics
from services.api.watches import Watches
from shared.auth.sealing import Sealer
from shared.contracts.commands import ProviderProfile
from shared.database.database import Database
from shared.database.quick_reads import QuickReads
from shared.domain.authorization import RoleTable
from shared.files.settings import FilesSettings
from shared.files.store import FileStore
from shared.lifecycle.surroundings import Surroundings
from shared.providers.ports import ProviderReads


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The ready parts."""

    database: Database
    quick_reads: QuickReads
    store: FileStore
    files: FilesSettings
    provider: ProviderReads
    profile: ProviderProfile
    """How new spaces are kept."""
    authenticator: Authenticates
    sealer: Sealer
    roles: RoleTable
    around: Surroundings
    limits: Limits
    presence: BrokerPresence
    room: Room
    look: WorkerLook
    outgoing: Outgoing
    trail: AuditTrail
    watches: Watches
    metrics: ApiMetrics
    checks: Mapping[str, Check]
    """By name, what has to work for the process to be ready."""
    most_items: int
    """The largest page of a list."""
    address: str
    """Where clients reach the api from outside."""
    version: str
    """The product's."""
