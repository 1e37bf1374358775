"""Puts the HTTP application together from ready parts."""

import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping
from itertools import groupby
from typing import Final, Protocol

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Path

from services.api.admin.features import admin_features
from services.api.documents.changes import DocumentChanges
from services.api.documents.deleting import DocumentDeleting
from services.api.documents.routes import DocumentRoutes
from services.api.downloads.fetch import Fetch
from services.api.downloads.routes import DOWNLOADS, DownloadRoutes
from services.api.edge.answers import error_response
from services.api.edge.call import Handler
from services.api.edge.errors import refuse
from services.api.edge.middleware import Edge
from services.api.edge.paths import split_action
from services.api.edge.resource import Edges, Resource
from services.api.edge.stamps import STAMPS
from services.api.events.routes import EventRoutes
from services.api.files.routes import FileRoutes
from services.api.health.readiness import Readiness
from services.api.health.routes import HealthRoutes
from services.api.moves import Moves
from services.api.operations.changes import OperationChanges
from services.api.operations.routes import OperationRoutes
from services.api.parts import Parts
from services.api.retrieval.routes import RetrievalRoutes
from services.api.spaces.routes import SpaceRoutes
from services.api.uploads.assembly import upload_routes
from services.api.uploads.endpoint import Tus
from shared.contracts.errors import ERROR_RULES, ErrorCode
from shared.contracts.route import Route
from shared.contracts.routes import OPERATION_GET, ROUTES
from shared.contracts.uploads import UPLOAD_ROUTES
from shared.retrieval.citation_reader import CitationReader
from shared.retrieval.search import Searcher

METHOD_NOT_ALLOWED: Final = ERROR_RULES[ErrorCode.METHOD_NOT_ALLOWED].status
NO_TELEMETRY: Final[TelemetryConfig] = {"tracing": False, "metrics": False, "logs": False}
"""Ours counts by route and never by address; the framework's would cost more than a poll."""


class Feature(Protocol):
    """One folder of this service."""

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""


def build_app(parts: Parts) -> FastAPI:
    """The application. Its routes are plain ones: FastAPI's dependencies and models would cost 70 microseconds a call,
    a fifth of a poll, to do once more what the contract's models and `Resource` do.
    """
    moves = moves_of(parts)
    edges = Edges(
        authenticator=parts.authenticator,
        rate=parts.limits.rate,
        trail=parts.trail,
        metrics=parts.metrics,
        clock=parts.around.clock,
    )
    readiness = Readiness(checks=parts.checks, monotonic=time.monotonic)
    health = HealthRoutes(readiness=readiness, registry=parts.metrics.registry, version=parts.version)
    app = FastAPI(
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=NO_TELEMETRY,
        routes=[
            *contract_paths(handlers(parts, moves), edges),
            Path(f"{DOWNLOADS}/{{token}}", fetch(parts)),
            *upload_paths(parts, moves, edges),
            *health.routes(),
        ],
        exception_handlers={HTTPException: refused_by_framework(edges)},
    )
    app.add_middleware(Edge, metrics=parts.metrics, clock=parts.around.clock)
    return app


def handlers(parts: Parts, moves: Moves) -> Mapping[Route, Handler]:
    """What there is a handler for, of the contract's routes and of ours."""
    features: tuple[Feature, ...] = (
        SpaceRoutes(moves=moves, profile=parts.profile, most_items=parts.most_items),
        DocumentRoutes(moves=moves, most_items=parts.most_items),
        DocumentChanges(moves=moves),
        DocumentDeleting(moves=moves),
        OperationChanges(moves=moves),
        OperationRoutes(
            reads=parts.quick_reads,
            watch=parts.watches.operations,
            authenticator=parts.authenticator,
            roles=parts.roles,
            clock=parts.around.clock,
        ),
        EventRoutes(
            database=parts.database,
            authenticator=parts.authenticator,
            roles=parts.roles,
            heads=parts.watches.chains,
            places=parts.limits.streams,
        ),
        FileRoutes(moves=moves, store=parts.store, settings=parts.files, metrics=parts.metrics),
        retrieval(parts),
        DownloadRoutes(moves=moves, sealer=parts.sealer, trail=parts.trail, address=parts.address),
        *admin_features(moves, parts.trail, parts.most_items, parts.look),
    )
    return {route: handler for feature in features for route, handler in feature.handlers().items()}


def moves_of(parts: Parts) -> Moves:
    """How this process moves state."""
    return Moves(
        database=parts.database,
        around=parts.around,
        roles=parts.roles,
        presence=parts.presence,
        queue=parts.limits.queue,
        room=parts.room,
        outgoing=parts.outgoing,
        metrics=parts.metrics,
    )


def retrieval(parts: Parts) -> RetrievalRoutes:
    """Search and citations."""
    searcher = Searcher(
        database=parts.database,
        provider=parts.provider,
        sealer=parts.sealer,
        roles=parts.roles,
        on_foreign=parts.metrics.foreign_hits.inc,
    )
    citations = CitationReader(database=parts.database, provider=parts.provider, sealer=parts.sealer, roles=parts.roles)
    return RetrievalRoutes(searcher=searcher, citations=citations, trail=parts.trail)


def fetch(parts: Parts) -> Fetch:
    """What download links lead to."""
    return Fetch(
        database=parts.database,
        store=parts.store,
        sealer=parts.sealer,
        roles=parts.roles,
        trail=parts.trail,
        clock=parts.around.clock,
    )


def upload_paths(parts: Parts, moves: Moves, edges: Edges) -> list[Path]:
    """Where resumable uploads begin, and the one path of each."""
    methods = upload_routes(moves, parts.store, parts.files).handlers()
    return [
        Path(path, Tus({route: methods[route] for route in routes}, edges, max_bytes=parts.files.max_bytes))
        for path, routes in groupby(UPLOAD_ROUTES, lambda route: route.path)
    ]


def contract_paths(handlers: Mapping[Route, Handler], edges: Edges) -> list[Path]:
    """One path for each path of the contract and of ours, with all its methods; polling first, it is asked most."""
    by_path: defaultdict[str, dict[Route, Handler]] = defaultdict(dict)
    for route in (OPERATION_GET, *ROUTES, *handlers):
        by_path[route.path][route] = handlers[route]
    return [Path(split_action(path), Resource(methods, edges)) for path, methods in by_path.items()]


def refused_by_framework(edges: Edges) -> Callable[[Request, Exception], Coroutine[None, None, Response]]:
    """Puts into the envelope what no endpoint of ours answers: an unknown path, a wrong method on a plain one."""

    async def answer(request: Request, error: Exception) -> Response:
        is_method = isinstance(error, HTTPException) and error.status_code == METHOD_NOT_ALLOWED
        headers = error.headers if isinstance(error, HTTPException) else None
        refusal = refuse(ErrorCode.METHOD_NOT_ALLOWED if is_method else ErrorCode.NOT_FOUND, headers=headers)
        edges.metrics.errors.labels(refusal.error.code).inc()
        return error_response(
            refusal.error, refusal.status, request.scope[STAMPS], edges.clock(), headers=refusal.headers
        )

    return answer
