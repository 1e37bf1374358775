"""Envelopes as bytes."""

import json
from datetime import UTC, datetime

import pytest

from services.api.edge.answers import LONGEST_ERROR, Answer, error_response, success_meta, success_response
from services.api.edge.stamps import Stamps
from shared.contracts.envelope import ListSuccessMeta, SuccessMeta
from shared.contracts.errors import ApiError, ErrorCode, FieldError
from shared.contracts.paging import Pagination

NOW = datetime(2031, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)
STAMPS = Stamps(request_id='r-"\\1', traceparent="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")


def test_a_success_has_the_meta_that_the_contracts_models_write() -> None:
    page = Pagination.of(2, 20, 41)

    assert success_meta(None, STAMPS, NOW) == SuccessMeta.of(STAMPS.request_id, STAMPS.trace_id, NOW).to_json()
    assert (
        success_meta(page, STAMPS, NOW) == ListSuccessMeta.of(STAMPS.request_id, STAMPS.trace_id, NOW, page).to_json()
    )


@pytest.mark.parametrize("is_replay", [False, True])
def test_only_a_replay_says_that_it_is_one(is_replay: bool) -> None:
    response = success_response(Answer(status=202, content=b'{"a":1}', is_replay=is_replay), STAMPS, NOW)

    assert response.status_code == 202
    assert json.loads(bytes(response.body))["data"] == {"a": 1}
    assert response.headers.get("x-idempotent-replay") == ("true" if is_replay else None)


def test_an_error_is_never_longer_than_the_client_reads() -> None:
    faults = [FieldError(field="字" * 256, reason="INVALID", message="m" * 2000) for _ in range(100)]

    response = error_response(ApiError.of(ErrorCode.INVALID_INPUT, field_errors=faults), 422, STAMPS, NOW)

    assert len(bytes(response.body)) <= LONGEST_ERROR
    assert 10 < len(json.loads(bytes(response.body))["meta"]["error"]["fieldErrors"]) < 100
