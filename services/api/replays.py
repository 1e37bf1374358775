"""Who may have an answer repeated: whoever may still act on what it was about, even if that is gone by now."""

import json
from collections.abc import Callable

from sqlalchemy import Connection

from services.api.edge.call import Call
from shared.contracts.enums import Action
from shared.contracts.ids import DocumentId, OperationId, SpaceId
from shared.database.listings import visible_operation
from shared.database.managed import is_space_managed
from shared.database.reached import is_document_in_reach, is_space_in_reach
from shared.domain.authorization import Reach, RoleTable, reach
from shared.domain.errors import DocumentNotFound, NotFound, SpaceNotFound
from shared.lifecycle.once import Reauthorise


def may_act_on_space(call: Call, action: Action, roles: RoleTable) -> Reauthorise:
    """For answers about the space in the path."""
    space_id = call.id("spaceId", SpaceId)
    return _require(
        call, action, roles, SpaceNotFound, lambda conn, reached: is_space_in_reach(conn, reached, space_id)
    )


def may_manage_space(call: Call, action: Action, roles: RoleTable) -> Reauthorise:
    """For answers to those who manage the space in the path; they need no grant, but the space must be there."""
    space_id = call.id("spaceId", SpaceId)
    return _require(call, action, roles, SpaceNotFound, lambda conn, reached: is_space_managed(conn, reached, space_id))


def may_act_on_document(call: Call, action: Action, roles: RoleTable) -> Reauthorise:
    """For answers about the document in the path."""
    document_id = call.id("documentId", DocumentId)
    return _require(
        call, action, roles, DocumentNotFound, lambda conn, reached: is_document_in_reach(conn, reached, document_id)
    )


def may_act_on_new_document(call: Call, action: Action, roles: RoleTable) -> Reauthorise:
    """For answers about a document that the request made: what its operation is about."""

    def reauthorise(conn: Connection, content: str) -> None:
        operation_id = OperationId(json.loads(content)["operationId"])
        if visible_operation(conn, reach(call.caller, action, roles), operation_id) is None:
            raise DocumentNotFound

    return reauthorise


def _require(
    call: Call,
    action: Action,
    roles: RoleTable,
    absent: type[NotFound],
    is_in_reach: Callable[[Connection, Reach], bool],
) -> Reauthorise:
    def reauthorise(conn: Connection, content: str) -> None:
        if not is_in_reach(conn, reach(call.caller, action, roles)):
            raise absent

    return reauthorise
