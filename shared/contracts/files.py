"""Uploaded files over HTTP: the resource that an upload or a replacement names."""

from typing import Annotated, Final

from pydantic import Field

from shared.contracts.body import Body, Whole
from shared.contracts.enums import Action
from shared.contracts.ids import DocumentId, FileResourceId
from shared.contracts.route import Approval, Concurrency, Route, Toolset
from shared.contracts.text import FILE_RESOURCE_ID, SHA256_HEX, FileName, Id, MimeType
from shared.contracts.wire import UtcTime

MOST_DOCUMENTS: Final = 20


class FileResource(Body):
    """A file that was received.

    Neither names nor contents need to be unique: every upload makes a resource of its own, and every document made of
    one is a document of its own. What is there already is told and decides nothing: `deduplicated`, that the tenant had
    the same bytes before and keeps them once; `documents`, up to 20 documents, among those that the caller may see,
    whose active or candidate version holds them.
    """

    file_resource_id: Annotated[FileResourceId, FILE_RESOURCE_ID]
    file_name: FileName
    mime_type: MimeType
    file_size: Annotated[int, Whole(0)]
    sha256: Annotated[str, Field(pattern=SHA256_HEX)]
    expires_at: UtcTime
    deduplicated: bool
    documents: Annotated[tuple[Id[DocumentId], ...], Field(max_length=MOST_DOCUMENTS)] = ()


FILE_UPLOAD: Final = Route(
    tool="knowledge_file_upload",
    method="POST",
    path="/internal/v1/files",
    success_status=201,
    data=FileResource,
    actions=(Action.DOCUMENT_UPLOAD,),
    approval=Approval.ALLOW,
    concurrency=Concurrency.PARALLEL,
    toolset=Toolset.WRITE,
)
"""Ours, beside the contract: agents name files that somebody has uploaded, and do not upload any."""

FILE_GET: Final = Route(
    tool="knowledge_file_get",
    method="GET",
    path="/internal/v1/files/{fileResourceId}",
    success_status=200,
    data=FileResource,
    actions=(Action.DOCUMENT_UPLOAD,),
    approval=Approval.ALLOW,
    concurrency=Concurrency.PARALLEL,
    toolset=Toolset.WRITE,
    client_may_retry=True,
)
"""Shows its uploader a file that has not expired: what a resumable upload has become."""

FILE_ROUTES: Final = (FILE_UPLOAD, FILE_GET)

FILE_NAME: Final = "X-File-Name"
"""The header in which an upload names its file, percent-encoded UTF-8."""
