"""What an uploaded file looks like over HTTP."""

from shared.contracts.files import FileResource
from shared.lifecycle.store_file import StoredResource


def file_resource(stored: StoredResource) -> FileResource:
    """The resource that an upload or a replacement may name, and what is there already with the same content."""
    resource, file = stored.resource, stored.file
    return FileResource(
        file_resource_id=resource.id,
        file_name=resource.file_name,
        mime_type=resource.content_type,
        file_size=file.size,
        sha256=file.sha256,
        expires_at=resource.expires_at,
        deduplicated=stored.is_twin,
        documents=stored.documents,
    )
