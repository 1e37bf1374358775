"""A request to move state: who asks, within which request, and what is settled before the transaction."""

from dataclasses import dataclass

from shared.domain.audit import Actor, Origin
from shared.domain.authorization import RoleTable
from shared.domain.identity import Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What every move that a caller asks for is given."""

    caller: Caller
    roles: RoleTable
    traceparent: str
    request_id: str
    tool_call_id: str
    idempotency_digest: str | None = None
    actor: Actor = Actor.API
    """Who asks on behalf of the caller: a part of the gateway may do so by itself."""
    publishes: bool = False
    """The caller publishes the command itself right after the commit, because the window has room."""

    def origin(self) -> Origin:
        """Where the change comes from, for the audit."""
        return Origin(
            actor=self.actor,
            caller=self.caller,
            tool_call_id=self.tool_call_id,
            request_id=self.request_id,
            traceparent=self.traceparent,
            idempotency_digest=self.idempotency_digest,
        )
