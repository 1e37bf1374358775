"""How one asks: requests that name an id, and the places in which they name it.

An attack would take effect if it were let through. A probe shows that somebody is let through and changes nothing: it
names a version that is not the current one, a file that is not there, an operation that is over.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from shared.contracts.admin_route import ADMIN_PREFIX
from shared.contracts.route import Route
from shared.contracts.uploads import TUS_RESUMABLE, TUS_VERSION, UPLOADS
from tests.integration.api.harness import KNOWLEDGE
from tests.matrix.people import Relation, Role, Sight
from tests.matrix.preparing import QUERY
from tests.matrix.world import World, unknown

CURRENT = 1
STALE = 99
NO_FILE = "file_01m0000000000000000000000z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request: with a JSON body, with bytes, or with neither."""

    method: str
    path: str
    body: Mapping[str, object] | None = None
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """What somebody gets who is let through to a probe."""

    status: int
    code: str | None = None


FOUND = Passed(status=200)

Naming = Callable[[World], str]
"""The id that is named, of all that there is in the world."""

Named = tuple[Sight, Naming, Naming]
"""What has to be seen of something, it itself, and one like it that is gone."""

Asking = Callable[[str, str], Ask]
"""A request that names this id, with a file of the caller's own should it need one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One route and one place in it for an id.

    `may_ask` are the roles that get as far as a look at what is named; `may_do` those that get through.
    """

    name: str
    route: Route
    sight: Sight
    target: Naming
    gone: Naming
    attacked: Naming | None = None
    """What an attack names when it is not `target`."""
    absent: Naming | None = None
    """What is not there, in the form of `target`, when that is more than an id."""
    attack: Asking
    probe: Asking
    passed: Passed = FOUND
    may_ask: frozenset[Role]
    may_do: frozenset[Role] | None = None
    """None when a look at what is named refuses nobody more."""

    def unknown_id(self, world: World) -> str:
        """Something that is not there."""
        return unknown(self.target(world)) if self.absent is None else self.absent(world)

    def id_for(self, relation: Relation, world: World, *, attacks: bool) -> str:
        """What a caller of this relation names."""
        match relation:
            case Relation.UNKNOWN_ID:
                return self.unknown_id(world)
            case Relation.DELETED:
                return self.gone(world)
            case _:
                return (self.attacked if attacks and self.attacked is not None else self.target)(world)


def get(path: str, prefix: str = KNOWLEDGE) -> Asking:
    """Read what the path names."""
    return lambda id_, file: Ask(method="GET", path=prefix + path.format(id_))


def send(path: str, *, method: str = "POST", prefix: str = KNOWLEDGE, **body: object) -> Callable[[int], Asking]:
    """A body is sent as it is given; what is left open in it is filled with the version and with a file."""

    def of_version(version: int) -> Asking:
        def ask(id_: str, file: str) -> Ask:
            filling = {"expectedVersion": version, "fileResourceId": file if version == CURRENT else NO_FILE}
            filled = {name: filling[name] if value is ... else value for name, value in body.items()}
            return Ask(method=method, path=prefix + path.format(id_), body=filled)

        return ask

    return of_version


def search(name: str) -> Asking:
    """Search in what the body names."""
    return lambda id_, file: Ask(method="POST", path=f"{KNOWLEDGE}/search", body={"query": QUERY, name: [id_]})


def tus(method: str, content: bytes | None = None, **headers: str) -> Asking:
    """Do something to a resumable upload."""
    named = {name.replace("_", "-"): value for name, value in headers.items()} | {TUS_RESUMABLE: TUS_VERSION}
    return lambda id_, file: Ask(method=method, path=f"{UPLOADS}/{id_}", content=content, headers=named)


def switch(path: str) -> Asking:
    """Send an empty body to a path of the admin API."""
    return send(path, prefix=ADMIN_PREFIX)(CURRENT)


def reasoned(path: str) -> Asking:
    """Send a reason to a path of the admin API."""
    return send(path, prefix=ADMIN_PREFIX, reason="It is stuck.")(CURRENT)


def grant(path: str, principal: str) -> Asking:
    """Grant a whole space to a user, or take that back."""
    return send(path, prefix=ADMIN_PREFIX, principal={"kind": "user", "name": principal})(CURRENT)
