"""What makes something new, and what belongs to a tenant as a whole: the role decides, within one's own tenant."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, product

from sqlalchemy import Connection

from shared.contracts import admin, operating, routes
from shared.contracts.admin_route import ADMIN_PREFIX
from shared.contracts.files import FILE_UPLOAD
from shared.contracts.route import Route
from shared.contracts.uploads import (
    TUS_RESUMABLE,
    TUS_VERSION,
    UPLOAD_BEGIN,
    UPLOAD_END,
    UPLOAD_LENGTH,
    UPLOAD_METADATA,
    UPLOADS,
)
from shared.database.sql import run
from tests.integration.api.harness import KNOWLEDGE, space_request
from tests.matrix.asking import Ask
from tests.matrix.people import MANAGES, OPERATES, REAL, RULES, WRITES, Relation, Role, caller
from tests.matrix.preparing import GRACE, begin_upload
from tests.matrix.walking import Walk

_numbers = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """One route that names nothing which could be hidden."""

    route: Route
    ask: Callable[[], Ask]
    may: frozenset[Role]


def _administers(
    route: Route, path: str, body: Mapping[str, object] | None = None, may: frozenset[Role] = MANAGES
) -> Making:
    return Making(route=route, ask=lambda: Ask(method=route.method, path=ADMIN_PREFIX + path, body=body), may=may)


def _new_space() -> Ask:
    return Ask(method="POST", path=f"{KNOWLEDGE}/spaces", body=space_request(f"made-{next(_numbers)}"))


_MEMBERSHIPS = {"groups": ["thieves"], "roles": [], "domains": []}
MAKINGS: Sequence[Making] = (
    Making(route=routes.SPACE_CREATE, ask=_new_space, may=RULES),
    Making(
        route=FILE_UPLOAD,
        ask=lambda: Ask(method="POST", path=FILE_UPLOAD.path, content=b"text", headers={"x-file-name": "a.txt"}),
        may=WRITES,
    ),
    Making(
        route=UPLOAD_BEGIN,
        ask=lambda: Ask(
            method="POST",
            path=UPLOADS,
            headers={TUS_RESUMABLE: TUS_VERSION, UPLOAD_LENGTH: "6", UPLOAD_METADATA: "filename YS50eHQ="},
        ),
        may=WRITES,
    ),
    _administers(operating.AUDIT_READ, "/audit", may=OPERATES),
    _administers(operating.UNFINISHED_LIST, "/operations", may=OPERATES),
    _administers(operating.LETTER_LIST, "/dead-letters", may=OPERATES),
    _administers(operating.RECONCILIATION_LIST, "/reconciliations", may=OPERATES),
    _administers(operating.RECONCILIATION_CREATE, "/reconciliations", {}, may=OPERATES),
    _administers(admin.ACCOUNT_LIST, "/accounts"),
    _administers(admin.REVOCATION_LIST, "/revocations"),
    _administers(admin.TOKEN_LIST, "/service-tokens"),
    _administers(admin.ACCOUNT_PUT, "/accounts/victor", _MEMBERSHIPS),
    _administers(admin.ACCOUNT_DISABLE, "/accounts/victor:disable", {}),
    _administers(admin.REVOCATION_CREATE, "/revocations", {"kind": "subject", "value": "victor"}),
    _administers(admin.TOKEN_CREATE, "/service-tokens", {"service": "robot"}),
)


async def walk_making(walk: Walk) -> None:
    """Who is to be refused and who is of another tenant first: neither changes anything in the world's tenant."""
    for making in MAKINGS:
        walk.tools.add(making.route.tool)
        may = [role for role in walk.roles if role in making.may]
        before = await _tenants_own(walk)
        for role, relation in product(walk.roles, REAL):
            if role not in making.may:
                await _ask(walk, making, role, relation, 403)
        for role in may:
            await _ask(walk, making, role, Relation.OTHER_TENANT, making.route.success_status)
        if await _tenants_own(walk) != before:
            walk.wrong(f"{making.route.tool}: somebody else has changed something in the tenant")
        for role, relation in product(may, REAL):
            if relation is not Relation.OTHER_TENANT:
                is_allowed = making.route is not routes.SPACE_CREATE or relation is not Relation.OTHER_DOMAIN
                await _ask(walk, making, role, relation, making.route.success_status if is_allowed else 403)
    await _ends(walk)


async def _ask(walk: Walk, making: Making, role: Role, relation: Relation, status: int) -> None:
    answer = await walk.ask(making.ask(), caller(role, relation))
    is_right = answer.status_code == status
    if relation is Relation.OTHER_TENANT:
        world = walk.world
        hidden = {world.token, world.shut_account, world.letter, world.reconciliation, world.running}
        if making.route is operating.AUDIT_READ:
            hidden.discard(
                world.running
            )  # they have asked for it, and their tenant's audit tells that they were denied
        is_right &= not any(name in answer.text for name in hidden)
    if not is_right:
        walk.wrong(f"{making.route.tool}, {role.value or 'no role'}, {relation.name}", answer)


async def _ends(walk: Walk) -> None:
    """An upload is ended by its own caller alone."""
    walk.tools.add(UPLOAD_END.tool)
    upload = await begin_upload(walk.gateway, GRACE)
    ask = Ask(method="DELETE", path=f"{UPLOADS}/{upload}", headers={TUS_RESUMABLE: TUS_VERSION})
    for role, relation in product(walk.roles, REAL):
        is_own = relation in {Relation.GRANTED_TO_USER, Relation.OTHER_DOMAIN}
        if role in WRITES and is_own:
            continue
        answer = await walk.ask(ask, caller(role, relation))
        if answer.status_code != (404 if role in WRITES else 403):
            walk.wrong(f"{UPLOAD_END.tool}, {role.value or 'no role'}, {relation.name}", answer)
    answer = await walk.ask(ask, GRACE)
    if answer.status_code != 204:
        walk.wrong(UPLOAD_END.tool, answer)


async def _tenants_own(walk: Walk) -> Mapping[str, list[str]]:
    """What the world's tenant has as a whole."""

    def read(conn: Connection) -> Mapping[str, list[str]]:
        texts = {
            "spaces": "SELECT * FROM space WHERE tenant_id = 'acme'",
            "accounts": "SELECT * FROM account WHERE tenant_id = 'acme' AND is_managed",
            "revocations": "SELECT * FROM revocation WHERE tenant_id = 'acme'",
            "tokens": "SELECT * FROM service_token WHERE tenant_id = 'acme'",
            "letters": "SELECT * FROM dead_letter WHERE tenant_id = 'acme'",
            "reconciliations": "SELECT * FROM reconciliation WHERE tenant_id = 'acme'",
        }
        return {name: sorted(repr(tuple(row)) for row in run(conn, text)) for name, text in texts.items()}

    return await walk.gateway.parts.database.read(read)
