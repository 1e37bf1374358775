"""Uploaded files over HTTP: the resource that an upload or a replacement names."""

from typing import Annotated, Final

from pydantic import Field

from shared.contracts.body import Body, Whole
from shared.contracts.enums import Action
from shared.contracts.ids import FileResourceId
from shared.contracts.route import Approval, Concurrency, Route, Toolset
from shared.contracts.text import FILE_RESOURCE_ID, FileName, MimeType
from shared.contracts.wire import UtcTime


class FileResource(Body):
    """A file that was received. `deduplicated` tells that the same content was there already."""

    file_resource_id: Annotated[FileResourceId, FILE_RESOURCE_ID]
    file_name: FileName
    mime_type: MimeType
    file_size: Annotated[int, Whole(0)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    expires_at: UtcTime
    deduplicated: bool


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

FILE_NAME: Final = "X-File-Name"
"""The header in which an upload names its file, percent-encoded UTF-8."""
