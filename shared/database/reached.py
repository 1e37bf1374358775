"""What a caller may act on, whatever has become of it: with what is hidden, being deleted or gone.

Answers that were given before are repeated only to those who may still act on what they were about, and that may be
gone by now, so nothing here looks at a status.
"""

from sqlalchemy import Connection

from shared.contracts.ids import DocumentId, SpaceId
from shared.database.predicate import DOCUMENT_VISIBLE, SPACE_VISIBLE, reach_parameters
from shared.database.sql import run
from shared.domain.authorization import Reach

_SPACE = f"SELECT 1 FROM space WHERE space.id = :id AND {SPACE_VISIBLE}"  # noqa: S608 - names of ours only
_DOCUMENT = f"""SELECT 1 FROM document CROSS JOIN space
    WHERE document.id = :id AND space.id = document.space_id AND {DOCUMENT_VISIBLE}"""  # noqa: S608 - as above


def is_space_in_reach(conn: Connection, reach: Reach, space_id: SpaceId) -> bool:
    """Whether there is or was a space of this id that the caller may act on."""
    return run(conn, _SPACE, id=space_id, **reach_parameters(reach)).first() is not None


def is_document_in_reach(conn: Connection, reach: Reach, document_id: DocumentId) -> bool:
    """Whether there is or was a document of this id that the caller may act on."""
    return run(conn, _DOCUMENT, id=document_id, **reach_parameters(reach)).first() is not None
