"""Resumable uploads: where they go, and the words of tus 1.0 that client and server share."""

import base64
from typing import Final

from shared.contracts.documents import EmptyRequest
from shared.contracts.enums import Action
from shared.contracts.route import Approval, Concurrency, Route, Toolset

TUS_VERSION: Final = "1.0.0"
UPLOADS: Final = "/internal/v1/uploads"
"""Ours, beside the contract. Below it, one path for each upload."""

TUS_RESUMABLE: Final = "Tus-Resumable"
UPLOAD_LENGTH: Final = "Upload-Length"
UPLOAD_OFFSET: Final = "Upload-Offset"
UPLOAD_METADATA: Final = "Upload-Metadata"
UPLOAD_CHECKSUM: Final = "Upload-Checksum"
UPLOAD_EXPIRES: Final = "Upload-Expires"
OFFSET_BYTES: Final = "application/offset+octet-stream"
"""The content type of a body that continues an upload."""

NAME_KEY: Final = "filename"
"""The key of `Upload-Metadata` under which an upload names its file; other keys mean nothing to us."""

FILE_RESOURCE: Final = "X-File-Resource-Id"
"""Tells, once the upload is whole, which file resource it has become."""
FILE_DEDUPLICATED: Final = "X-File-Deduplicated"
"""Tells, once the upload is whole, that the tenant had the same bytes before: `true` or `false`."""
ERROR_CODE: Final = "X-Error-Code"
"""The error's stable code; the body of an error of this protocol is a text for people."""


def metadata_of(name: str) -> str:
    """The `Upload-Metadata` of an upload whose file goes by this name."""
    return f"{NAME_KEY} {base64.b64encode(name.encode()).decode()}"


def _route(tool: str, method: str, path: str, status: int) -> Route:
    """Its answers are headers; no agent calls it."""
    return Route(
        tool=tool,
        method=method,
        path=path,
        success_status=status,
        data=EmptyRequest,
        actions=(Action.DOCUMENT_UPLOAD,),
        approval=Approval.ALLOW,
        concurrency=Concurrency.PARALLEL,
        toolset=Toolset.WRITE,
    )


UPLOAD: Final = f"{UPLOADS}/{{uploadId}}"
UPLOAD_BEGIN: Final = _route("file_upload_begin", "POST", UPLOADS, 201)
UPLOAD_LOOK: Final = _route("file_upload_look", "HEAD", UPLOAD, 200)
UPLOAD_CONTINUE: Final = _route("file_upload_continue", "PATCH", UPLOAD, 204)
UPLOAD_END: Final = _route("file_upload_end", "DELETE", UPLOAD, 204)
UPLOAD_ROUTES: Final = (UPLOAD_BEGIN, UPLOAD_LOOK, UPLOAD_CONTINUE, UPLOAD_END)
