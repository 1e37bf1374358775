"""The contract file as the checker reads it: routes, schemas, limits."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

FILE: Final = Path(__file__).parents[1] / "contract" / "knowledge-gateway.v1.json"
CONTRACT: Final[Mapping[str, Any]] = json.loads(FILE.read_bytes())
SCHEMAS: Final[Mapping[str, Any]] = CONTRACT["schemas"]
LIMITS: Final[Mapping[str, Any]] = CONTRACT["limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One call that may be made. `data` names the schema of what it answers; None is no part of the contract."""

    tool: str
    method: str
    path: str
    status: int
    request: str | None = None
    query: str | None = None
    data: str | None = None
    is_list: bool = False
    wants_key: bool = False


def _route(found: Mapping[str, Any]) -> Route:
    return Route(
        tool=found["tool"],
        method=found["method"],
        path=found["path"],
        status=found["successStatus"],
        request=found["request"],
        query=found["query"],
        data=found["data"],
        is_list=found["meta"] == "ListSuccessMeta",
        wants_key=found["idempotencyKey"],
    )


ROUTES: Final = MappingProxyType({found["tool"]: _route(found) for found in CONTRACT["routes"]})

FILE_UPLOAD: Final = Route(tool="file_upload", method="POST", path="/internal/v1/files", status=201)
"""Files come before documents, by a route of the product's own; its answers keep the envelope."""
