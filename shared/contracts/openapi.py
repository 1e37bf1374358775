"""Writes OpenAPI 3.1 documents from routes and their models: of the contract, and of the admin API."""

import re
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from types import UnionType
from typing import Final, get_args

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue, models_json_schema

from shared.contracts.admin import ADMIN_ROUTES
from shared.contracts.body import Body
from shared.contracts.envelope import ErrorEnvelope, ListSuccessMeta, SuccessMeta
from shared.contracts.errors import ERROR_RULES
from shared.contracts.retrieval import RetrievalResult
from shared.contracts.route import CALLER_HEADERS, IDEMPOTENCY_KEY, Header, Route
from shared.contracts.routes import ROUTES
from shared.contracts.text import ID

OPENAPI_VERSION: Final = "3.1.0"

_SCHEMAS: Final = "#/components/schemas/"
_PATH_ID: Final = re.compile(r"\{(\w+)\}")
_ANYWHERE: Final = (401, 403, 404, 422, 429, 500, 503)
_WITH_BODY: Final = (400, 413, 415)
_WITH_EFFECT: Final = (409,)
_WITH_RETRY_AFTER: Final = frozenset({429, 503})


class _Untitled(GenerateJsonSchema):
    """Leaves out the titles that pydantic makes of field names: they tell nothing."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


def build_openapi(version: str) -> JsonSchemaValue:
    """The contract's routes, in the same order every time; `version` is the product's."""
    return _document(version, "The Knowledge Gateway's agent endpoints.", ROUTES)


def build_admin_openapi(version: str) -> JsonSchemaValue:
    """The admin API's routes."""
    return _document(version, "The Knowledge Gateway's administration of access.", ADMIN_ROUTES)


def _document(version: str, description: str, routes: Sequence[Route]) -> JsonSchemaValue:
    return {
        "openapi": OPENAPI_VERSION,
        "info": {"title": "Knowgate", "version": version, "description": description},
        "security": [{"serviceToken": []}],
        "paths": _paths(routes),
        "components": {
            "securitySchemes": {"serviceToken": {"type": "http", "scheme": "bearer"}},
            "parameters": {header.name: _header(header) for header in (*CALLER_HEADERS, IDEMPOTENCY_KEY)},
            "responses": {_error_name(status): _error_response(status) for status in _error_statuses(routes)},
            "schemas": _component_schemas(routes),
        },
    }


def _paths(routes: Sequence[Route]) -> JsonSchemaValue:
    paths: JsonSchemaValue = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return paths


def _operation(route: Route) -> JsonSchemaValue:
    operation: JsonSchemaValue = {"operationId": route.tool, "parameters": _parameters(route)}
    if route.request is not None:
        body = {"schema": {"$ref": f"{_SCHEMAS}{route.request.__name__}"}}
        operation["requestBody"] = {"required": True, "content": {"application/json": body}}
    operation["responses"] = {str(route.success_status): _success(route)} | {
        str(status): {"$ref": f"#/components/responses/{_error_name(status)}"} for status in _errors_of(route)
    }
    operation["x-knowgate"] = {
        "actions": [action.value for action in route.actions],
        "approval": route.approval.value,
        "concurrency": route.concurrency.value,
        "toolset": route.toolset.value,
        "clientMayRetry": route.client_may_retry,
    }
    return operation


def _parameters(route: Route) -> list[JsonSchemaValue]:
    in_path: list[JsonSchemaValue] = [
        {"name": name, "in": "path", "required": True, "schema": {"$ref": f"{_SCHEMAS}BusinessId"}}
        for name in _PATH_ID.findall(route.path)
    ]
    headers = (*CALLER_HEADERS, IDEMPOTENCY_KEY) if route.idempotency_key else CALLER_HEADERS
    in_headers: list[JsonSchemaValue] = [{"$ref": f"#/components/parameters/{header.name}"} for header in headers]
    return in_path + list(_query_parameters(route.taken_query)) + in_headers


def _query_parameters(query: type[Body] | None) -> Iterator[JsonSchemaValue]:
    if query is not None:
        schema = query.model_json_schema(schema_generator=_Untitled)
        for name, property_schema in schema["properties"].items():
            is_required = name in schema.get("required", ())
            yield {"name": name, "in": "query", "required": is_required, "schema": property_schema}


def _header(header: Header) -> JsonSchemaValue:
    lengths = {"minLength": header.min_length, "maxLength": header.max_length}
    return {"name": header.name, "in": "header", "required": True, "schema": {"type": "string"} | lengths}


def _success(route: Route) -> JsonSchemaValue:
    name = "RetrievalResult" if isinstance(route.data, UnionType) else route.data.__name__
    meta = ListSuccessMeta if route.is_list else SuccessMeta
    envelope: JsonSchemaValue = {
        "type": "object",
        "additionalProperties": False,
        "required": ["data", "meta"],
        "properties": {"data": {"$ref": f"{_SCHEMAS}{name}"}, "meta": {"$ref": f"{_SCHEMAS}{meta.__name__}"}},
    }
    response: JsonSchemaValue = {
        "description": HTTPStatus(route.success_status).phrase,
        "content": {"application/json": {"schema": envelope}},
    }
    if route.idempotency_key:
        text = "Present when an earlier answer to the same idempotency key is repeated"
        response["headers"] = {"X-Idempotent-Replay": {"description": text, "schema": {"const": "true"}}}
    return response


def _errors_of(route: Route) -> list[int]:
    has_effect = not route.client_may_retry
    return sorted(_ANYWHERE + (_WITH_BODY if route.request else ()) + (_WITH_EFFECT if has_effect else ()))


def _error_statuses(routes: Sequence[Route]) -> list[int]:
    return sorted({status for route in routes for status in _errors_of(route)})


def _error_name(status: int) -> str:
    return f"Error{status}"


def _error_response(status: int) -> JsonSchemaValue:
    codes = [code.value for code, rule in ERROR_RULES.items() if rule.status == status]
    response: JsonSchemaValue = {
        "description": ", ".join(codes),
        "content": {"application/json": {"schema": {"$ref": f"{_SCHEMAS}{ErrorEnvelope.__name__}"}}},
    }
    if status in _WITH_RETRY_AFTER:
        text = "Seconds to wait before another try"
        response["headers"] = {"Retry-After": {"description": text, "schema": {"type": "integer", "minimum": 0}}}
    return response


def _component_schemas(routes: Sequence[Route]) -> JsonSchemaValue:
    _, definitions = models_json_schema(
        list(_models(routes)), ref_template=f"{_SCHEMAS}{{model}}", schema_generator=_Untitled
    )
    schemas: JsonSchemaValue = definitions["$defs"]
    schemas["BusinessId"] = {
        "type": "string",
        "minLength": ID.min_length,
        "maxLength": ID.max_length,
        "pattern": r"^[^\s]+$",
    }
    if any(route.data is RetrievalResult for route in routes):
        schemas["RetrievalResult"] = {
            "oneOf": [{"$ref": f"{_SCHEMAS}{model.__name__}"} for model in get_args(RetrievalResult)]
        }
    return dict(sorted(schemas.items()))


def _models(routes: Sequence[Route]) -> Iterator[tuple[type[BaseModel], JsonSchemaMode]]:
    """Requests as they are read, answers as they are written; each once."""
    for request in dict.fromkeys(route.request for route in routes if route.request is not None):
        yield request, "validation"
    for answer in dict.fromkeys(model for route in routes for model in _models_of(route.data)):
        yield answer, "serialization"
    for part in (SuccessMeta, ListSuccessMeta, ErrorEnvelope):
        yield part, "serialization"


def _models_of(data: type[Body] | UnionType) -> tuple[type[Body], ...]:
    return get_args(data) if isinstance(data, UnionType) else (data,)
