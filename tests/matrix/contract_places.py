"""Every place in the contract's routes where a request names something: who may go there, and how one asks."""

from collections.abc import Callable, Mapping
from typing import Any

from shared.contracts import routes
from shared.contracts.route import Route
from tests.matrix.asking import CURRENT, STALE, Asking, Named, Naming, Passed, Place, get, search, send
from tests.matrix.people import READS, RULES, WRITES, Role, Sight
from tests.matrix.world import World, unknown

_SPACE: Named = (Sight.SPACE, lambda world: world.space, lambda world: world.gone_space)
_SPACE_OR_PART: Named = (Sight.DOCUMENT, *_SPACE[1:])
_DOCUMENT: Named = (Sight.DOCUMENT, lambda world: world.document, lambda world: world.gone_document)
_CITATION: Named = (Sight.DOCUMENT, lambda world: world.citation, lambda world: world.gone_citation)
_OPERATION: Named = (Sight.PAST_DOCUMENT, lambda world: world.done, lambda world: world.gone_done)
_SPACE_OPERATION: Named = (
    Sight.PAST_SPACE,
    lambda world: world.space_done,
    lambda world: world.gone_space_done,
)
_OLD_SPACE = Passed(status=409, code="KNOWLEDGE_VERSION_CONFLICT")
_OLD_DOCUMENT = Passed(status=409, code="DOCUMENT_VERSION_CONFLICT")
_NO_FILE = Passed(status=404, code="FILE_NOT_FOUND")
_OVER = Passed(status=409, code="OPERATION_NOT_CANCELLABLE")
_DONE = Passed(status=409, code="OPERATION_NOT_RETRYABLE")
_LOCK: Mapping[str, Any] = {"expectedVersion": ..., "reason": "because"}


def _running(world: World) -> str:
    return world.running


def _failed(world: World) -> str:
    return world.failed


def _read(route: Route, named: Named, asking: Asking, name: str = "path") -> Place:
    sight, target, gone = named
    return Place(
        name=name, route=route, sight=sight, target=target, gone=gone, attack=asking, probe=asking, may_ask=READS
    )


def _change(
    route: Route,
    named: Named,
    asking: Callable[[int], Asking],
    passed: Passed,
    may_ask: frozenset[Role],
    *,
    may_do: frozenset[Role] | None = None,
    attacked: Naming | None = None,
    name: str = "path",
) -> Place:
    """`asking` is told the version to name."""
    sight, target, gone = named
    return Place(
        name=name,
        route=route,
        sight=sight,
        target=target,
        gone=gone,
        attacked=attacked,
        attack=asking(CURRENT),
        probe=asking(STALE),
        passed=passed,
        may_ask=may_ask,
        may_do=may_do,
    )


def _after(world: World, document: str) -> str:
    """A place in the list of the granted space's documents."""
    return f"{world.space}/documents?after={document}"


CONTRACT_PLACES = (
    _read(
        routes.SPACE_LIST,
        (Sight.PAST_SPACE, lambda world: world.space, lambda world: world.gone_space),
        get("/spaces?after={}"),
        "query, after",
    ),
    Place(
        name="query, after",
        route=routes.DOCUMENT_LIST,
        sight=Sight.PAST_DOCUMENT,
        target=lambda world: _after(world, world.document),
        gone=lambda world: _after(world, world.gone_document),
        absent=lambda world: _after(world, unknown(world.document)),
        attack=get("/spaces/{}"),
        probe=get("/spaces/{}"),
        may_ask=READS,
    ),
    _read(routes.SPACE_GET, _SPACE, get("/spaces/{}")),
    _read(routes.DOCUMENT_LIST, _SPACE_OR_PART, get("/spaces/{}/documents")),
    _read(routes.DOCUMENT_GET, _DOCUMENT, get("/documents/{}")),
    _read(routes.SOURCE_READ, _CITATION, get("/citations/{}")),
    _read(routes.OPERATION_GET, _OPERATION, get("/operations/{}")),
    _read(routes.OPERATION_GET, _SPACE_OPERATION, get("/operations/{}"), "path of a space"),
    _read(routes.SEARCH, _SPACE, search("knowledgeSpaceIds"), "body, space"),
    _read(routes.SEARCH, _DOCUMENT, search("documentIds"), "body, document"),
    _read(routes.DOCUMENT_DOWNLOAD, _DOCUMENT, send("/documents/{}:create-download-link")(CURRENT)),
    _change(
        routes.DOCUMENT_UPLOAD,
        _SPACE,
        send("/spaces/{}/documents", fileResourceId=..., documentName="Stolen"),
        _NO_FILE,
        WRITES,
    ),
    _change(
        routes.DOCUMENT_UPDATE,
        _DOCUMENT,
        send("/documents/{}", method="PATCH", expectedVersion=..., name="Stolen"),
        _OLD_DOCUMENT,
        WRITES,
    ),
    _change(
        routes.DOCUMENT_REPLACE,
        _DOCUMENT,
        send("/documents/{}:replace", expectedVersion=..., fileResourceId=...),
        _OLD_DOCUMENT,
        WRITES,
    ),
    _change(routes.DOCUMENT_ENABLE, _DOCUMENT, send("/documents/{}:enable", **_LOCK), _OLD_DOCUMENT, WRITES),
    _change(routes.DOCUMENT_DISABLE, _DOCUMENT, send("/documents/{}:disable", **_LOCK), _OLD_DOCUMENT, WRITES),
    _change(routes.DOCUMENT_REINDEX, _DOCUMENT, send("/documents/{}:reindex", **_LOCK), _OLD_DOCUMENT, WRITES),
    _change(routes.DOCUMENT_DELETE, _DOCUMENT, send("/documents/{}:delete", **_LOCK), _OLD_DOCUMENT, RULES),
    _change(
        routes.SPACE_UPDATE,
        _SPACE,
        send("/spaces/{}", method="PATCH", expectedVersion=..., name="Stolen"),
        _OLD_SPACE,
        RULES,
    ),
    _change(routes.SPACE_DELETE, _SPACE, send("/spaces/{}:delete", **_LOCK), _OLD_SPACE, RULES),
    _change(
        routes.OPERATION_CANCEL,
        _OPERATION,
        send("/operations/{}:cancel", reason="because"),
        _OVER,
        WRITES,
        attacked=_running,
    ),
    _change(
        routes.OPERATION_RETRY,
        _OPERATION,
        send("/operations/{}:retry", reason="because"),
        _DONE,
        WRITES,
        attacked=_failed,
    ),
    _change(
        routes.OPERATION_CANCEL,
        _SPACE_OPERATION,
        send("/operations/{}:cancel", reason="because"),
        _OVER,
        WRITES,
        may_do=RULES,
        name="path of a space",
    ),
    _change(
        routes.OPERATION_RETRY,
        _SPACE_OPERATION,
        send("/operations/{}:retry", reason="because"),
        _DONE,
        WRITES,
        may_do=RULES,
        name="path of a space",
    ),
)
"""Where the contract's routes name something that may be there or not."""
