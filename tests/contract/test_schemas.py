"""Our models and the contract's schemas say the same, property by property."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from tests.contract.models import ANSWERS, REQUESTS, VALUES
from tests.contract.schemas import CONTRACT, SCHEMAS, comparable

SENT_WITH_Z_THOUGH_ANY_OFFSET_IS_ALLOWED = {
    "Operation": ("createdAt", "updatedAt", "lastRetryAt", "nextRetryAt"),
    "DownloadLink": ("expiresAt",),
}


def contract_schema(name: str) -> dict[str, Any]:
    schema = comparable(SCHEMAS[name], CONTRACT)
    for field in SENT_WITH_Z_THOUGH_ANY_OFFSET_IS_ALLOWED.get(name, ()):
        add_z(schema["properties"][field])
    return schema


def add_z(schema: dict[str, Any]) -> None:
    for branch in schema.get("alternatives", (schema,)):
        if branch["type"] == "string":
            assert "pattern" not in branch
            branch["pattern"] = "Z$"


def test_every_schema_of_the_contract_has_its_model() -> None:
    assert {*REQUESTS, *ANSWERS, *VALUES} == set(SCHEMAS)


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_model_reads_what_the_contract_says(name: str) -> None:
    schema = REQUESTS[name].model_json_schema(mode="validation")

    assert comparable(schema, schema) == contract_schema(name)


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_model_writes_what_the_contract_says(name: str) -> None:
    schema = ANSWERS[name].model_json_schema(mode="serialization")

    assert comparable(schema, schema) == contract_schema(name)


@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_what_the_contract_says(name: str) -> None:
    schema = TypeAdapter[Any](VALUES[name]).json_schema()

    assert comparable(schema, schema) == contract_schema(name)


def test_a_difference_would_be_seen() -> None:
    shorter = {**SCHEMAS["Reason"], "maxLength": 1023}
    changed = {**CONTRACT, "schemas": {**SCHEMAS, "Reason": shorter}}

    assert comparable(SCHEMAS["SpaceDeleteRequest"], changed) != comparable(SCHEMAS["SpaceDeleteRequest"], CONTRACT)
