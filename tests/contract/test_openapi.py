"""The OpenAPI document is a valid one and says what the contract says."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.openapi.models import OpenAPI
from jsonschema import Draft202012Validator

from shared.contracts.openapi import build_openapi
from tests.contract.schemas import CONTRACT, SCHEMAS, comparable
from tests.contract.test_schemas import contract_schema

DOCUMENT = build_openapi("1.2.3")
COMPONENTS = DOCUMENT["components"]
QUERIES = {"ListQuery", "CitationContextQuery"}
OURS = {
    "knowledge_operation_get": {("query", "wait")},
    "knowledge_space_list": {("query", "after")},
    "knowledge_document_list": {("query", "after")},
}
"""What a route takes beside the contract; nobody has to send it."""


def operation_of(route: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = DOCUMENT["paths"][route["path"]][route["method"].lower()]
    return found


def resolved_parameters(operation: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    parameters = [
        COMPONENTS["parameters"][parameter["$ref"].rsplit("/", 1)[1]] if "$ref" in parameter else parameter
        for parameter in operation["parameters"]
    ]
    found = {(parameter["in"], parameter["name"]): parameter for parameter in parameters}
    assert len(found) == len(parameters)
    return found


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for part in value.values():
            yield from references(part)
    elif isinstance(value, list):
        for part in value:
            yield from references(part)


def test_the_document_is_openapi() -> None:
    OpenAPI.model_validate(DOCUMENT)

    assert DOCUMENT["openapi"] == "3.1.0"
    assert DOCUMENT["info"]["version"] == "1.2.3"


def test_the_document_is_the_same_every_time() -> None:
    assert build_openapi("1.2.3") == DOCUMENT


def test_every_reference_leads_somewhere() -> None:
    for reference in references(DOCUMENT):
        comparable({"$ref": reference}, DOCUMENT)
    assert set(references(DOCUMENT)) >= {"#/components/schemas/ErrorEnvelope", "#/components/responses/Error409"}


@pytest.mark.parametrize("name", COMPONENTS["schemas"])
def test_a_schema_is_json_schema(name: str) -> None:
    Draft202012Validator.check_schema(COMPONENTS["schemas"][name])


@pytest.mark.parametrize("name", sorted(set(COMPONENTS["schemas"]) & set(SCHEMAS)))
def test_a_schema_says_what_the_contract_says(name: str) -> None:
    assert comparable(COMPONENTS["schemas"][name], DOCUMENT) == contract_schema(name)


def test_no_schema_of_the_contract_is_left_out() -> None:
    objects = {name for name, schema in SCHEMAS.items() if schema.get("type") == "object" or "oneOf" in schema}

    assert objects - QUERIES <= set(COMPONENTS["schemas"])


def test_the_operations_are_the_contracts() -> None:
    written = {
        (method.upper(), path): operation["operationId"]
        for path, operations in DOCUMENT["paths"].items()
        for method, operation in operations.items()
    }

    assert written == {(route["method"], route["path"]): route["tool"] for route in CONTRACT["routes"]}


@pytest.mark.parametrize("route", CONTRACT["routes"], ids=lambda route: route["tool"])
def test_an_operation_takes_what_the_contract_says(route: dict[str, Any]) -> None:
    operation = operation_of(route)
    parameters = resolved_parameters(operation)

    in_path = {("path", name) for name in re.findall(r"\{(\w+)\}", route["path"])}
    in_query = {("query", name) for name in SCHEMAS[route["query"]]["properties"]} if route["query"] else set()
    in_header = {
        ("header", name)
        for name, header in CONTRACT["headers"].items()
        if name != "Authorization" and (header["required"] is True or route["idempotencyKey"])
    }
    ours = OURS.get(route["tool"], set())
    assert set(parameters) == in_path | in_query | in_header | ours
    assert all(parameters[key]["required"] for key in in_path | in_header)
    assert not any(parameters[key]["required"] for key in ours)
    assert ("requestBody" in operation) == (route["request"] is not None)
    if route["request"] is not None:
        schema = {"$ref": f"#/components/schemas/{route['request']}"}
        assert operation["requestBody"] == {"required": True, "content": {"application/json": {"schema": schema}}}


@pytest.mark.parametrize("route", CONTRACT["routes"], ids=lambda route: route["tool"])
def test_parameters_have_the_contracts_schemas(route: dict[str, Any]) -> None:
    parameters = resolved_parameters(operation_of(route))
    for place, name in parameters.keys() - OURS.get(route["tool"], set()):
        parameter = parameters[place, name]
        written = comparable(parameter["schema"], DOCUMENT)
        if place == "path":
            assert written == comparable(SCHEMAS["BusinessId"], CONTRACT)
        elif place == "query":
            assert written == comparable(SCHEMAS[route["query"]]["properties"][name], CONTRACT)
        else:
            header = CONTRACT["headers"][name]
            assert written == {
                "maxLength": header["maxLength"],
                "minLength": header["minLength"],
                "type": "string",
            }


@pytest.mark.parametrize("route", CONTRACT["routes"], ids=lambda route: route["tool"])
def test_an_operation_answers_what_the_contract_says(route: dict[str, Any]) -> None:
    responses = operation_of(route)["responses"]

    assert [status for status in responses if status.startswith("2")] == [str(route["successStatus"])]
    envelope = responses[str(route["successStatus"])]["content"]["application/json"]["schema"]
    assert envelope == {
        "type": "object",
        "additionalProperties": False,
        "required": ["data", "meta"],
        "properties": {
            "data": {"$ref": f"#/components/schemas/{route['data']}"},
            "meta": {"$ref": f"#/components/schemas/{route['meta']}"},
        },
    }
    for status, response in responses.items():
        if not status.startswith("2"):
            assert response == {"$ref": f"#/components/responses/Error{status}"}


@pytest.mark.parametrize("name", COMPONENTS["responses"])
def test_every_error_is_the_error_envelope(name: str) -> None:
    content = COMPONENTS["responses"][name]["content"]

    assert content == {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorEnvelope"}}}


def test_a_caller_is_told_when_to_come_back() -> None:
    with_header = {name for name, response in COMPONENTS["responses"].items() if "headers" in response}

    assert with_header == {"Error429", "Error503"}


def test_the_service_token_is_demanded_everywhere() -> None:
    assert DOCUMENT["security"] == [{"serviceToken": []}]
    assert COMPONENTS["securitySchemes"] == {"serviceToken": {"type": "http", "scheme": "bearer"}}
