"""What a route is: its request, its answer, its headers, and what it demands of agent and caller."""

from dataclasses import dataclass
from enum import StrEnum, unique
from types import UnionType
from typing import Final

from shared.contracts.body import Body
from shared.contracts.enums import Action
from shared.contracts.paging import ListQuery


@unique
class Approval(StrEnum):
    """Whether an agent's call waits for a person's consent."""

    ALLOW = "allow"
    ASK = "ask"


@unique
class Concurrency(StrEnum):
    """Whether an agent may run the call beside others."""

    PARALLEL = "parallel"
    EXCLUSIVE = "exclusive"


@unique
class Toolset(StrEnum):
    """The smallest set of tools that holds the call; each holds the ones before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """A header of every request, or of the routes that demand an idempotency key; lengths in characters."""

    name: str
    max_length: int
    min_length: int = 1


AUTHORIZATION_HEADER: Final = "Authorization"
USER_ASSERTION: Final = Header(name="X-User-Assertion", max_length=8192)
SESSION_ID: Final = Header(name="X-Harness-Session-Id", max_length=256)
TOOL_CALL_ID: Final = Header(name="X-Tool-Call-Id", max_length=256)
REQUEST_ID: Final = Header(name="X-Request-Id", max_length=256)
IDEMPOTENCY_KEY: Final = Header(name="Idempotency-Key", max_length=128)
CALLER_HEADERS: Final = (USER_ASSERTION, SESSION_ID, TOOL_CALL_ID, REQUEST_ID)
"""Beside `Authorization: Bearer <service token>`, every request carries these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One route. `path` is a template; an action after a colon is split from the id on the raw path."""

    tool: str
    method: str
    path: str
    success_status: int
    request: type[Body] | None = None
    query: type[Body] | None = None
    own_query: type[Body] | None = None
    """What we take in the query beside the contract; all of it may be left out."""
    data: type[Body] | UnionType
    actions: tuple[Action, ...]
    approval: Approval
    concurrency: Concurrency
    toolset: Toolset
    idempotency_key: bool = False
    client_may_retry: bool = False

    @property
    def taken_query(self) -> type[Body] | None:
        """What the query may hold: the contract's, with ours beside it."""
        return self.own_query or self.query

    @property
    def is_list(self) -> bool:
        """Whether the answer carries a pagination."""
        return self.query is ListQuery
