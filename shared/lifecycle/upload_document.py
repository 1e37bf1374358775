"""Takes a new document on: the document, its first version, and the operation that uploads and ingests it."""

from sqlalchemy import Connection

from shared.contracts.documents import DocumentUploadRequest
from shared.contracts.enums import Action, ChangeType, DocumentStatus, OperationType
from shared.contracts.ids import DocumentId, SpaceId
from shared.contracts.metadata import DocumentMetadata
from shared.database.documents import insert_documents
from shared.database.versions import insert_versions
from shared.domain.document import Document
from shared.domain.work import Work
from shared.lifecycle.acceptance import Accepted, Change, accept, new_operation
from shared.lifecycle.candidates import new_version, open_space, owned_file
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings


def upload_document(
    conn: Connection, space_id: SpaceId, body: DocumentUploadRequest, request: Request, around: Surroundings
) -> Accepted:
    """Accept a document into a space that is ACTIVE; it is CREATING until its first version is."""
    space = open_space(conn, space_id, Action.DOCUMENT_UPLOAD, request)
    now = around.clock()
    file = owned_file(conn, body.file_resource_id, request, now)
    document_id = DocumentId(around.new_id("doc"))
    version = new_version(
        document_id=document_id,
        space=space,
        number=1,
        change=ChangeType.INITIAL_UPLOAD,
        file=file,
        around=around,
        now=now,
    )
    document = Document(
        id=document_id,
        tenant_id=space.tenant_id,
        space_id=space.id,
        name=body.document_name,
        status=DocumentStatus.CREATING,
        metadata=(body.metadata or DocumentMetadata()).to_output(),
        lock_version=0,
        active_version_id=None,
        candidate_version_id=version.id,
        last_version_number=1,
        created_by=request.caller.subject,
        created_at=now,
        updated_at=now,
    )
    insert_documents(conn, [document])
    insert_versions(conn, [version])
    operation = new_operation(OperationType.DOCUMENT_UPLOAD, space, version, request, around, now)
    work = Work(operation=operation, space=space, document=document, version=version)
    return accept(conn, work, [Change(None, document), Change(None, version)], request, around, now)
