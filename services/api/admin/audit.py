"""Reading the tenant's audit chain, which is written to it as well."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from services.api.audit.trail import AuditTrail
from services.api.edge.answers import Answer, found
from services.api.edge.call import Call, Handler
from services.api.moves import Moves
from shared.contracts.audit_messages import EntrySealed
from shared.contracts.enums import Action
from shared.contracts.operating import AUDIT_READ, AuditEntry, AuditPage, AuditQuery
from shared.contracts.route import Route
from shared.database.audit_reading import page_of_tenant
from shared.domain.authorization import require_action

NOT_SHOWN = {"kind", "schema_version", "chain", "tenant_id"}
"""Of a published entry: the caller's tenant is all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRoutes:
    """The audit, for those who may view it."""

    moves: Moves
    trail: AuditTrail

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {AUDIT_READ: self.read}

    async def read(self, call: Call) -> Answer:
        """Entries in the order of their chain."""
        require_action(call.caller, Action.VIEW_AUDIT, self.moves.roles)
        query = call.query(AuditQuery)
        page = partial(
            page_of_tenant, tenant=call.caller.tenant, after=query.after, limit=query.limit, latest=query.latest
        )
        entries, last_seq = await self.moves.database.read(page)
        await self.trail.read(call, None, None, {"after": query.after, "entries": len(entries)})
        return found(AuditPage(entries=tuple(map(_entry, entries)), last_seq=last_seq))


def _entry(entry: EntrySealed) -> AuditEntry:
    return AuditEntry(**entry.model_dump(exclude=NOT_SHOWN))
