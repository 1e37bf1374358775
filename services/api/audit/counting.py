"""Counts what happens too often for an entry of its own: allowed lists, gets and polls, and refused authentications.

Each subject and route, or source and reason, becomes one entry a minute. The counts are in memory until then: what is
counted was allowed and changed nothing, or let nobody in.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from shared.contracts.ids import SubjectId, TenantId
from shared.contracts.route import Route, Toolset
from shared.contracts.routes import SOURCE_READ
from shared.contracts.uploads import UPLOAD_CONTINUE
from shared.domain.audit import Actor, Origin, Outcome
from shared.domain.identity import Caller

MOST_KINDS: Final = 1000
"""With so many different ones the minute ends early."""

AUTHENTICATION: Final = "authentication"
"""The action of entries on callers that nobody knows."""

READING: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Allowed:
    """Requests that were allowed, by whom and what for; in which sessions and calls is not told."""

    tenant: TenantId
    subject: SubjectId
    service: str
    action: str

    @classmethod
    def of(cls, caller: Caller, route: Route) -> Self:
        """What a request is counted as."""
        return cls(caller.tenant, caller.subject, caller.service, route.tool)

    @property
    def told(self) -> "Told":
        """How the entry tells it."""
        who = Caller(tenant=self.tenant, subject=self.subject, session_id="", service=self.service)
        return Told(origin=Origin(actor=Actor.API, caller=who), action=self.action, outcome=Outcome.DONE, about={})


@dataclass(frozen=True, slots=True)
class Refused:
    """Requests by nobody known. `source` is the address at the other end of the connection."""

    source: str
    reason: str

    @property
    def told(self) -> "Told":
        """How the entry tells it."""
        about = {"reason": self.reason, "source": self.source}
        return Told(origin=Origin(actor=Actor.API), action=AUTHENTICATION, outcome=Outcome.REFUSED, about=about)


Kind = Allowed | Refused
"""What is counted together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What an entry says beside the number and the time."""

    origin: Origin
    action: str
    outcome: Outcome
    about: Mapping[str, str]


class Counts:
    """How often each kind of thing has happened since it was last told."""

    def __init__(self, *, most: int = MOST_KINDS) -> None:
        self._most = most
        self._counts: dict[Kind, int] = {}

    @property
    def is_full(self) -> bool:
        """Whether there are too many kinds to go on."""
        return len(self._counts) >= self._most

    def add(self, kind: Kind) -> None:
        """Count one."""
        self._counts[kind] = self._counts.get(kind, 0) + 1

    def take(self) -> Mapping[Kind, int]:
        """All of it, and begin anew."""
        taken, self._counts = self._counts, {}
        return taken


def is_counted(route: Route) -> bool:
    """Whether requests of this route that were allowed are counted; all others are told one by one.

    Citations and what administrators read have entries of their own. A piece of an upload is counted, because how an
    upload begins and what becomes of it are told.
    """
    if route in {SOURCE_READ, UPLOAD_CONTINUE}:
        return route == UPLOAD_CONTINUE
    return route.method in READING and route.toolset is not Toolset.ADMIN
