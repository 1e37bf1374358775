"""Stored files, the resources by which their uploaders name them, and uploads that are under way."""

from datetime import datetime
from enum import StrEnum, unique

from sqlalchemy import Index, UniqueConstraint, false, text
from sqlmodel import Field, SQLModel

from shared.database.tables.columns import big, key, moment, one_of


@unique
class FileStatus(StrEnum):
    """LIVE may be adopted by a twin; PURGING may not and is about to be deleted."""

    LIVE = "LIVE"
    PURGING = "PURGING"


class FileRow(SQLModel, table=True):
    """One stored object. Of equal bytes a tenant has one LIVE file."""

    __tablename__ = "file"
    __table_args__ = (
        Index(
            "file_live_once",
            "tenant_id",
            "sha256",
            unique=True,
            sqlite_where=text("status = 'LIVE'"),
            postgresql_where=text("status = 'LIVE'"),
        ),
        UniqueConstraint("object_key", name="file_object_once"),
    )

    id: str = key()
    tenant_id: str
    sha256: str
    size: int = big()
    object_key: str
    status: FileStatus = one_of(FileStatus)
    created_at: datetime = moment()


class FileResourceRow(SQLModel, table=True):
    """One uploaded file as its uploader names it; it expires unless a version takes its file."""

    __tablename__ = "file_resource"
    __table_args__ = (Index("file_resource_by_file", "file_id"), Index("file_resource_expiry", "expires_at"))

    id: str = key()
    tenant_id: str
    subject: str
    file_id: str = Field(foreign_key="file.id")
    file_name: str
    content_type: str
    is_twin: bool = Field(sa_column_kwargs={"server_default": false()})
    """The same content was there when it was uploaded."""
    created_at: datetime = moment()
    expires_at: datetime = moment()


class UploadRow(SQLModel, table=True):
    """A resumable upload: how much of it has arrived, in parts that are objects of their own until it is whole."""

    __tablename__ = "upload"
    __table_args__ = (Index("upload_expiry", "expires_at"),)

    id: str = key()
    tenant_id: str
    subject: str
    file_name: str
    length: int = big()
    """Bytes of the whole file."""
    received: int = big()
    """Bytes that have arrived and are stored."""
    file_resource_id: str | None
    """What the upload became, once it was whole."""
    created_at: datetime = moment()
    expires_at: datetime = moment()


class UploadPartRow(SQLModel, table=True):
    """One stored piece of an upload; together, in the order of their offsets, they are what has arrived."""

    __tablename__ = "upload_part"

    upload_id: str = Field(foreign_key="upload.id", primary_key=True)
    starts_at: int = big(primary_key=True)
    size: int = big()
    object_key: str
