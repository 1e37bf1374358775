"""How rows are locked while they are read."""

from enum import StrEnum, unique


@unique
class Lock(StrEnum):
    """A row lock of PostgreSQL. SQLite has one writer at a time and needs none."""

    NONE = "NONE"
    SHARE = "SHARE"
    UPDATE = "UPDATE"


LOCK_CLAUSE = {Lock.NONE: "", Lock.SHARE: " FOR SHARE", Lock.UPDATE: " FOR UPDATE"}
"""What a select ends in on PostgreSQL."""
