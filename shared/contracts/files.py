"""Uploaded files over HTTP: the resource that an upload or a replacement names."""

from typing import Annotated

from pydantic import Field

from shared.contracts.body import Body, Whole
from shared.contracts.ids import FileResourceId
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
