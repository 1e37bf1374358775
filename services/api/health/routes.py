"""Answers for whoever watches the process: does it live, is it ready, how does it fare."""

from dataclasses import dataclass
from functools import cache
from typing import Final

import orjson
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from services.api.health.readiness import Readiness
from shared.contracts.openapi import build_admin_openapi, build_openapi

JSON: Final = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRoutes:
    """Health, metrics, and the contract. They tell nothing that a caller would have to be known for."""

    readiness: Readiness
    registry: CollectorRegistry
    version: str

    def routes(self) -> list[Route]:
        """Its routes, outside of the envelope."""
        return [
            Route("/livez", live),
            Route("/readyz", self.ready),
            Route("/metrics", self.metrics),
            Route("/openapi.json", self.describe),
            Route("/openapi-admin.json", self.describe_admin),
        ]

    async def ready(self, request: Request) -> Response:
        """200 when every part works, else 503; each part is `ok` or `failed`, and nothing more is said."""
        parts = await self.readiness.look()
        body = orjson.dumps({name: "ok" if works else "failed" for name, works in parts.items()})
        return Response(body, 200 if all(parts.values()) else 503, media_type=JSON)

    async def metrics(self, request: Request) -> Response:
        """All metrics of the process."""
        return Response(generate_latest(self.registry), media_type=CONTENT_TYPE_LATEST)

    async def describe(self, request: Request) -> Response:
        """The contract as OpenAPI."""
        return Response(_openapi(self.version), media_type=JSON)

    async def describe_admin(self, request: Request) -> Response:
        """The admin API as OpenAPI."""
        return Response(_admin_openapi(self.version), media_type=JSON)


@cache
def _openapi(version: str) -> bytes:
    return orjson.dumps(build_openapi(version))


@cache
def _admin_openapi(version: str) -> bytes:
    return orjson.dumps(build_admin_openapi(version))


async def live(request: Request) -> Response:
    """200 as long as the process answers at all."""
    return Response(b'{"status":"ok"}', media_type=JSON)
