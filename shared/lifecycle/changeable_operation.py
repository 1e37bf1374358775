"""An operation that a caller may cancel or retry, and everything that this moves, locked for it."""

from dataclasses import dataclass

from sqlalchemy import Connection

from shared.contracts.enums import Action
from shared.contracts.ids import OperationId
from shared.database.documents import load_documents
from shared.database.listings import visible_operation
from shared.database.locking import Lock
from shared.database.operations import load_operations
from shared.database.spaces import load_spaces
from shared.database.versions import load_versions
from shared.domain.authorization import OPERATION_ACTIONS, RoleTable, reach, require_action
from shared.domain.errors import OperationNotFound
from shared.domain.identity import Caller
from shared.domain.operation import Operation
from shared.domain.work import Work


def permitted_operation(
    conn: Connection, operation_id: OperationId, actions: tuple[Action, ...], caller: Caller, roles: RoleTable
) -> Operation:
    """The operation, when the caller may take these actions on what it is about, which may be gone by now.

    `ORIGINAL_OPERATION_PERMISSION` is the action that the operation's own command needed.
    """
    for action in actions:
        require_action(caller, action, roles)
    operation = visible_operation(conn, reach(caller, actions[0], roles), operation_id)
    if operation is None:
        raise OperationNotFound
    if Action.ORIGINAL_OPERATION_PERMISSION in actions:
        require_action(caller, OPERATION_ACTIONS[operation.type], roles)
    return operation


def held_work(conn: Connection, seen: Operation) -> Work:
    """The operation's work, locked. The space of a document is only held against being deleted."""
    is_space = seen.document_id is None
    space = load_spaces(conn, {seen.space_id}, lock=Lock.UPDATE if is_space else Lock.SHARE)[seen.space_id]
    documents = {} if seen.document_id is None else load_documents(conn, {seen.document_id}, lock=Lock.UPDATE)
    operation = load_operations(conn, {seen.id}, lock=Lock.UPDATE)[seen.id]
    versions = {} if seen.version_id is None else load_versions(conn, {seen.version_id}, lock=Lock.UPDATE)
    return Work(
        operation=operation,
        space=space,
        document=documents.get(seen.document_id or ""),
        version=versions.get(seen.version_id or ""),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledOperation:
    """An operation as a move left it; whatever is to be published for it is the dispatcher's."""

    operation: Operation
    command: None = None
