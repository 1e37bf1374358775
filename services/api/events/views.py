"""What transitions look like in a stream."""

from datetime import timedelta
from typing import Final

from shared.contracts.transition_events import TransitionEvent
from shared.database.transitions import Transition

KEEP_ALIVE: Final = b": keep-alive\n\n"


def opening(after: int, retry: timedelta) -> bytes:
    """How long to wait before coming back, and behind which event the stream begins: a reader that loses the
    connection before the first event comes back to this place too.
    """
    return b"retry: %d\nid: %d\n\n" % (retry // timedelta(milliseconds=1), after)


def sent_event(transition: Transition) -> bytes:
    """One transition as a server-sent event."""
    event = TransitionEvent(
        seq=transition.seq,
        at=transition.at,
        action=transition.action,
        resource_type=transition.resource_type,
        resource_id=transition.resource_id,
        operation_id=transition.operation_id,
        before=transition.before,
        after=transition.after,
    )
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.seq, event.name.encode(), event.to_json())
