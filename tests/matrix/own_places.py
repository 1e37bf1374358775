"""Every place in the routes of ours, beside the contract, where a request names something."""

from shared.contracts import admin, operating
from shared.contracts.admin_route import ADMIN_PREFIX
from shared.contracts.files import FILE_GET
from shared.contracts.route import Route
from shared.contracts.uploads import OFFSET_BYTES, UPLOAD_CONTINUE, UPLOAD_LOOK
from tests.matrix.asking import FOUND, Asking, Named, Naming, Passed, Place, get, grant, reasoned, switch, tus
from tests.matrix.people import MANAGES, OPERATES, WRITES, Role, Sight
from tests.matrix.world import World, unknown

_FILE: Named = (Sight.OWN, lambda world: world.file, lambda world: world.gone_file)
_UPLOAD: Named = (Sight.OWN, lambda world: world.upload, lambda world: world.gone_upload)
_ACCOUNT: Named = (Sight.TENANT, lambda world: world.account, lambda world: unknown(world.account))
_MANAGED: Named = (Sight.MANAGED, lambda world: world.space, lambda world: world.gone_space)
_RUNNING: Named = (Sight.MANAGED, lambda world: world.running, lambda world: unknown(world.running))
_LETTER: Named = (Sight.TENANT, lambda world: world.letter, lambda world: unknown(world.letter))
_SETTLED: Named = (Sight.TENANT, lambda world: world.settled_letter, lambda world: unknown(world.letter))
_GRANTS = "/spaces/{}/grants"
_CONFLICT = Passed(status=409, code="KNOWLEDGE_CONFLICT")


def _open(world: World) -> str:
    return world.letter


def _look(route: Route, named: Named, asking: Asking) -> Place:
    sight, target, gone = named
    return Place(
        name="path", route=route, sight=sight, target=target, gone=gone, attack=asking, probe=asking, may_ask=WRITES
    )


def _administer(
    route: Route,
    named: Named,
    attack: Asking,
    probe: Asking,
    passed: Passed = FOUND,
    attacked: Naming | None = None,
    may_ask: frozenset[Role] = MANAGES,
) -> Place:
    sight, target, gone = named
    return Place(
        name="path",
        route=route,
        sight=sight,
        target=target,
        gone=gone,
        attacked=attacked,
        attack=attack,
        probe=probe,
        passed=passed,
        may_ask=may_ask,
    )


def _operate(
    route: Route, named: Named, asking: Asking, passed: Passed = FOUND, attacked: Naming | None = None
) -> Place:
    return _administer(route, named, asking, asking, passed, attacked, OPERATES)


OWN_PLACES = (
    _look(FILE_GET, _FILE, get("/{}", "/internal/v1/files")),
    _look(UPLOAD_LOOK, _UPLOAD, tus("HEAD")),
    Place(
        name="path",
        route=UPLOAD_CONTINUE,
        sight=_UPLOAD[0],
        target=_UPLOAD[1],
        gone=_UPLOAD[2],
        attack=tus("PATCH", b"stolen", content_type=OFFSET_BYTES, upload_offset="0"),
        probe=tus("PATCH", b"stolen", content_type=OFFSET_BYTES, upload_offset="3"),
        passed=Passed(status=409, code="KNOWLEDGE_CONFLICT"),
        may_ask=WRITES,
    ),
    _administer(admin.GRANT_LIST, _MANAGED, get(_GRANTS, ADMIN_PREFIX), get(_GRANTS, ADMIN_PREFIX)),
    _administer(admin.GRANT_ADD, _MANAGED, grant(_GRANTS, "thief"), grant(_GRANTS, "grace")),
    _administer(
        admin.GRANT_REVOKE,
        _MANAGED,
        grant(f"{_GRANTS}:revoke", "grace"),
        grant(f"{_GRANTS}:revoke", "thief"),
        Passed(status=404, code="KNOWLEDGE_NOT_FOUND"),
    ),
    _administer(
        admin.SPACE_DISABLE,
        (Sight.MANAGED, lambda world: world.closed_space, lambda world: world.gone_space),
        switch("/spaces/{}:disable"),
        switch("/spaces/{}:disable"),
        attacked=lambda world: world.space,
    ),
    _administer(
        admin.SPACE_ENABLE,
        _MANAGED,
        switch("/spaces/{}:enable"),
        switch("/spaces/{}:enable"),
        attacked=lambda world: world.closed_space,
    ),
    _administer(admin.ACCOUNT_GET, _ACCOUNT, get("/accounts/{}", ADMIN_PREFIX), get("/accounts/{}", ADMIN_PREFIX)),
    _administer(
        admin.ACCOUNT_ENABLE,
        _ACCOUNT,
        switch("/accounts/{}:enable"),
        switch("/accounts/{}:enable"),
        attacked=lambda world: world.shut_account,
    ),
    _administer(
        admin.TOKEN_REVOKE,
        (Sight.TENANT, lambda world: world.ended_token, lambda world: unknown(world.token)),
        switch("/service-tokens/{}:revoke"),
        switch("/service-tokens/{}:revoke"),
        attacked=lambda world: world.token,
    ),
    _operate(operating.UNFINISHED_GET, _RUNNING, get("/operations/{}", ADMIN_PREFIX)),
    _operate(
        operating.OPERATION_FAIL,
        (Sight.MANAGED, lambda world: world.done, lambda world: unknown(world.done)),
        reasoned("/operations/{}:fail"),
        _CONFLICT,
        attacked=lambda world: world.running,
    ),
    _operate(operating.LETTER_GET, _LETTER, get("/dead-letters/{}", ADMIN_PREFIX)),
    _operate(operating.LETTER_REPLAY, _SETTLED, reasoned("/dead-letters/{}:replay"), _CONFLICT, _open),
    _operate(operating.LETTER_DISCARD, _SETTLED, reasoned("/dead-letters/{}:discard"), _CONFLICT, _open),
    _operate(
        operating.RECONCILIATION_GET,
        (Sight.TENANT, lambda world: world.reconciliation, lambda world: unknown(world.reconciliation)),
        get("/reconciliations/{}", ADMIN_PREFIX),
    ),
)
"""Where routes of ours, beside the contract, name something that may be there or not."""
