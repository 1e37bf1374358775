"""The stream of transitions over HTTP: server-sent events, resumed by their place in the tenant's audit chain."""

from typing import Annotated, Final

from shared.contracts.body import Body, Whole
from shared.contracts.enums import Action, ResourceType
from shared.contracts.ids import OperationId
from shared.contracts.route import Approval, Concurrency, Route, Toolset
from shared.contracts.text import BusinessId, Id
from shared.contracts.wire import Maybe, UtcTime


class EventsQuery(Body):
    """Behind which event to begin; `Last-Event-ID` wins. Without either the stream begins with what happens next."""

    after: Maybe[Annotated[int, Whole(0)]] = None


class TransitionEvent(Body):
    """One thing that came into being or changed its status. `seq` grows from event to event, with gaps."""

    seq: Annotated[int, Whole(1)]
    at: UtcTime
    action: str
    resource_type: ResourceType
    resource_id: BusinessId
    operation_id: Maybe[Id[OperationId]] = None
    before: Maybe[str] = None
    after: str

    @property
    def name(self) -> str:
        """What the event is called in the stream, such as ``operation.succeeded``."""
        return f"{self.resource_type.value}.{self.after}".lower()


EVENTS_FOLLOW: Final = Route(
    tool="knowledge_events_follow",
    method="GET",
    path="/internal/v1/events",
    success_status=200,
    query=EventsQuery,
    data=TransitionEvent,
    actions=(Action.SPACE_VIEW, Action.DOCUMENT_VIEW),
    approval=Approval.ALLOW,
    concurrency=Concurrency.PARALLEL,
    toolset=Toolset.READ,
)
"""Ours, beside the contract. Either action is enough for what it lets a caller see."""

EVENT_STREAM: Final = "text/event-stream"
LAST_EVENT_ID: Final = "Last-Event-ID"
"""The header by which a client that comes back says which event it had last."""
