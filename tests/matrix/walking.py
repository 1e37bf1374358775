"""Walks through every place in every role and relation and notes what was told, done or refused wrongly."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import httpx
from sqlalchemy import Connection

from shared.contracts.route import IDEMPOTENCY_KEY
from shared.contracts.uploads import ERROR_CODE
from shared.database.sql import run
from shared.telemetry.stamps import new_id
from tests.integration.api.harness import Gateway, User
from tests.matrix.asking import Ask, Passed, Place
from tests.matrix.people import SEEN_BY, Relation, Role, caller
from tests.matrix.world import World

FORBIDDEN, ABSENT = Passed(status=403, code="KNOWLEDGE_FORBIDDEN"), Passed(status=404)
WATCHED = (
    "space",
    "document",
    "document_tag",
    "document_version",
    "operation",
    "outbox",
    "purge",
    "access_grant",
    "service_token",
    "revocation",
    "dead_letter",
    "reconciliation",
)
"""Tables that nobody who is refused may change."""
JSON = "application/json"
OF_THE_MOMENT = frozenset({"x-request-id", "content-length"})

Told = tuple[int, Mapping[str, str], object]
"""An answer without what differs from one answer to the next."""


@dataclass(slots=True)
class Walk:
    """What was seen on the way."""

    gateway: Gateway
    world: World
    roles: Sequence[Role] = tuple(Role)
    cases: int = 0
    tools: set[str] = field(default_factory=set)
    leaks: list[str] = field(default_factory=list)
    _files: dict[tuple[str, str], str] = field(default_factory=dict)
    _absences: dict[tuple[str, str, User], Told] = field(default_factory=dict)
    _proofs: dict[User, str] = field(default_factory=dict)

    async def through(self, place: Place) -> None:
        """One place: first everybody who is to be refused, then everybody who is not."""
        self.tools.add(place.route.tool)
        pairs = list(product(self.roles, Relation))
        before = await self.rows()
        for role, relation in pairs:
            expected = _expected(place, role, relation)
            if expected != place.passed:
                await self.refused(place, role, relation, expected)
        if await self.rows() != before:
            self.wrong(f"{place.route.tool}, {place.name}: somebody who was to be refused has changed something")
        for role, relation in pairs:
            if _expected(place, role, relation) == place.passed:
                await self._let_through(place, role, relation)

    async def refused(self, place: Place, role: Role, relation: Relation, expected: Passed) -> None:
        """The answer must be the one that an unknown id gets, word for word."""
        user = caller(role, relation)
        file = await self.file_of(user)
        answer = await self.ask(place.attack(place.id_for(relation, self.world, attacks=True), file), user)
        self.check(_fits(answer, expected), place, role, relation, answer)
        if expected == ABSENT or role not in place.may_ask:
            self.check(told(answer) == await self._absent(place, user, file), place, role, relation, answer)

    async def _absent(self, place: Place, user: User, file: str) -> Told:
        """What the caller is told of something that is not there."""
        key = (place.route.tool, place.name, user)
        if key not in self._absences:
            self._absences[key] = told(await self.ask(place.attack(place.unknown_id(self.world), file), user))
        return self._absences[key]

    async def _let_through(self, place: Place, role: Role, relation: Relation) -> None:
        user = caller(role, relation)
        answer = await self.ask(place.probe(place.id_for(relation, self.world, attacks=False), ""), user)
        self.check(_fits(answer, place.passed), place, role, relation, answer)

    def check(self, is_right: bool, place: Place, role: Role, relation: Relation, answer: httpx.Response) -> None:
        """Note what is wrong."""
        if not is_right:
            self.wrong(f"{place.route.tool}, {place.name}, {role.value or 'no role'}, {relation.name}", answer)

    async def ask(self, ask: Ask, user: User, key: str | None = None) -> httpx.Response:
        """Send one request, with a fresh idempotency key unless one is given."""
        self.cases += 1
        headers = {**self.headers(user), IDEMPOTENCY_KEY.name: key or new_id("key"), **ask.headers}
        if ask.body is not None:
            return await self.gateway.http.request(ask.method, ask.path, headers=headers, json=ask.body)
        return await self.gateway.http.request(ask.method, ask.path, headers=headers, content=ask.content)

    def headers(self, user: User) -> dict[str, str]:
        """The headers of one call; time stands still here, so one assertion of each caller lasts."""
        if user not in self._proofs:
            self._proofs[user] = self.gateway.assertion(user)
        return self.gateway.headers(user, x_user_assertion=self._proofs[user])

    def wrong(self, what: str, answer: httpx.Response | None = None) -> None:
        """Note something that is wrong."""
        self.leaks.append(what if answer is None else f"{what}: {answer.status_code} {answer.text}")

    async def file_of(self, user: User) -> str:
        """A file that the subject has brought, in whatever role."""
        owner = (user.tenant, user.subject)
        if owner not in self._files:
            bringing = User(subject=user.subject, tenant=user.tenant, roles=(Role.ADMIN.value,), session=user.session)
            answer = await self.gateway.upload("mine.txt", f"Mine: {owner}".encode(), bringing)
            self._files[owner] = answer.json()["data"]["fileResourceId"]
        return self._files[owner]

    async def rows(self) -> Mapping[str, list[tuple[object, ...]]]:
        """Everything in the tables that refused callers must not change."""
        return await self.gateway.parts.database.read(lambda conn: dict(_rows(conn)))


def _expected(place: Place, role: Role, relation: Relation) -> Passed:
    """What a caller is to get. A role that may not act at all is told so before anything is looked at."""
    if role not in place.may_ask:
        return FORBIDDEN
    if relation not in SEEN_BY[place.sight]:
        return ABSENT
    return place.passed if place.may_do is None or role in place.may_do else FORBIDDEN


def _fits(answer: httpx.Response, expected: Passed) -> bool:
    return answer.status_code == expected.status and expected.code in (None, code_of(answer))


def code_of(answer: httpx.Response) -> str | None:
    """The stable code of an error, wherever its protocol has it."""
    if answer.headers.get("content-type") != JSON:
        code: str | None = answer.headers.get(ERROR_CODE)
        return code
    error = answer.json()["meta"]["error"]
    return None if error is None else str(error["code"])


def told(answer: httpx.Response) -> Told:
    """Everything that an answer tells but when and to which request."""
    headers = {name: value for name, value in answer.headers.items() if name not in OF_THE_MOMENT}
    if answer.headers.get("content-type") != JSON:
        return answer.status_code, headers, answer.content
    content = answer.json()
    meta = {name: content["meta"][name] for name in ("success", "apiVersion", "pagination", "error")}
    return answer.status_code, headers, {"data": content["data"], "meta": meta}


def _rows(conn: Connection) -> Iterator[tuple[str, list[tuple[object, ...]]]]:
    for name in WATCHED:
        yield name, sorted((tuple(row) for row in run(conn, f"SELECT * FROM {name}")), key=repr)  # noqa: S608 - names of ours only
