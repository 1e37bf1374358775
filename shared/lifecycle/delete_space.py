"""Deletes a space that nothing is left in: hidden work and documents are ended first, each by its own delete."""

from typing import Final

from sqlalchemy import Connection

from shared.contracts.enums import Action, DocumentStatus, OperationType
from shared.contracts.ids import SpaceId
from shared.contracts.spaces import SpaceDeleteRequest
from shared.database.documents import holds_documents
from shared.database.operations import count_unfinished
from shared.database.spaces import save_spaces
from shared.domain.document import HIDDEN
from shared.domain.errors import SpaceBusy, SpaceNotEmpty
from shared.domain.space import deleting_space, require_current_space
from shared.domain.work import Work
from shared.lifecycle.acceptance import Accepted, Change, accept, new_operation
from shared.lifecycle.changeable import changeable_space
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings

VISIBLE: Final = frozenset(DocumentStatus) - HIDDEN
LEAVING: Final = frozenset({DocumentStatus.DELETING})


def delete_space(
    conn: Connection, space_id: SpaceId, body: SpaceDeleteRequest, request: Request, around: Surroundings
) -> Accepted:
    """Accept the end of an empty space, from its current `expectedVersion`; its provider side goes with it."""
    space = changeable_space(conn, space_id, Action.SPACE_DELETE, request)
    require_current_space(space, body.expected_version)
    _require_empty(conn, space_id)
    now = around.clock()
    after = deleting_space(space, now)
    save_spaces(conn, [after])
    operation = new_operation(OperationType.SPACE_DELETE, after, None, request, around, now)
    work = Work(operation=operation, space=after)
    return accept(conn, work, [Change(space, after)], request, around, now, reason=body.reason)


def _require_empty(conn: Connection, space_id: SpaceId) -> None:
    """Whoever brings a document holds the space as well, so what is counted here is all there is."""
    if holds_documents(conn, space_id, VISIBLE):
        raise SpaceNotEmpty
    if holds_documents(conn, space_id, LEAVING) or count_unfinished(conn, space_id):
        raise SpaceBusy
