"""What the database raises beyond the domain's own errors; each is a leaf of a branch of that tree.

Rejected
├── Conflict
│   └── UniqueViolation      a row with this key is there already; `constraint` names the rule
└── SchemaOutdated           the tables are not those of this release
Transient
├── StoreUnavailable         (of the domain) no connection, no turn in time, no room on the disk
└── LeaseLost                somebody else is the active projector now
"""

from shared.domain.errors import Conflict, Rejected, Transient


class UniqueViolation(Conflict):
    """A row with this key is there already. `constraint` is the name of the index or constraint, on both databases."""

    def __init__(self, constraint: str) -> None:
        super().__init__(f"There is a row already that {constraint} allows only once.")
        self.constraint = constraint


class SchemaOutdated(Rejected):
    """The tables are not those of this release."""

    def __init__(self, found: str | None, wanted: str) -> None:
        super().__init__(
            f"The database is at revision {found or 'none'}, this release needs {wanted}. "
            "Run `knowgate migrate` (or `make migrate`) and start again."
        )
        self.found = found
        self.wanted = wanted


class LeaseLost(Transient):
    """Somebody else holds the lease now, or it has run out: nothing of this transaction may stay."""

    message = "The lease is held by another process."
