"""An envelope is exactly data and meta, and never holds what the client would refuse."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from shared.contracts.enums import SpaceStatus
from shared.contracts.envelope import Envelope, ErrorEnvelope, ListEnvelope, ListSuccessMeta, SuccessMeta
from shared.contracts.errors import ApiError, ErrorCode
from shared.contracts.ids import SpaceId
from shared.contracts.paging import Pagination
from shared.contracts.spaces import Space, SpaceCreated, SpaceList

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
SPACE = Space(space_id=SpaceId("s"), code="c", name="n", status=SpaceStatus.ACTIVE, version=1)


def test_a_success_holds_data_and_meta_and_no_error() -> None:
    data = SpaceCreated(space_id=SpaceId("s"), code="c", name="n", status=SpaceStatus.CREATING, version=1)

    envelope = Envelope[SpaceCreated](data=data, meta=SuccessMeta.of("r", "t", NOON))

    assert envelope.to_json() == (
        b'{"data":{"spaceId":"s","code":"c","name":"n","status":"CREATING","version":1},'
        b'"meta":{"success":true,"requestId":"r","traceId":"t","timestamp":"2026-05-04T12:00:00.000Z",'
        b'"apiVersion":"v1","pagination":null,"error":null}}'
    )


def test_an_error_holds_no_data() -> None:
    envelope = ErrorEnvelope.of("r", "t", NOON, ApiError.of(ErrorCode.NOT_FOUND))

    assert envelope.to_json() == (
        b'{"data":null,"meta":{"success":false,"requestId":"r","traceId":"t","timestamp":"2026-05-04T12:00:00.000Z",'
        b'"apiVersion":"v1","pagination":null,"error":{"code":"KNOWLEDGE_NOT_FOUND",'
        b'"message":"There is no such resource.","retryable":false,"fieldErrors":[]}}}'
    )


def test_an_id_that_is_too_long_for_an_answer_is_cut() -> None:
    long_id = "😀" * 256

    for meta in (
        SuccessMeta.of(long_id, long_id, NOON),
        ListSuccessMeta.of(long_id, long_id, NOON, Pagination.of(1, 20, 0)),
        ErrorEnvelope.of(long_id, long_id, NOON, ApiError.of(ErrorCode.NOT_FOUND)).meta,
    ):
        assert (meta.request_id, meta.trace_id) == ("😀" * 128, "😀" * 128)


def test_a_page_with_more_items_than_its_pagination_allows_is_refused() -> None:
    meta = ListSuccessMeta.of("r", "t", NOON, Pagination.of(page=2, page_size=1, total_items=1))

    with pytest.raises(ValidationError, match="must not hold more items"):
        ListEnvelope[SpaceList](data=SpaceList(items=(SPACE,)), meta=meta)


def test_a_page_may_hold_fewer_items() -> None:
    meta = ListSuccessMeta.of("r", "t", NOON, Pagination.of(page=1, page_size=20, total_items=5))

    assert ListEnvelope[SpaceList](data=SpaceList(items=(SPACE,)), meta=meta).data.items == (SPACE,)


@pytest.mark.parametrize(
    "written",
    [
        '{"spaceId":"s"}',
        '{"data":null,"meta":META}',
        '{"data":DATA}',
        '{"data":DATA,"meta":META,"extra":1}',
        '{"data":DATA,"meta":null}',
    ],
)
def test_anything_else_is_no_envelope(written: str) -> None:
    meta = SuccessMeta.of("r", "t", NOON).to_json().decode()
    body = written.replace("META", meta).replace("DATA", SPACE.to_json().decode())

    with pytest.raises(ValidationError):
        Envelope[Space].model_validate_json(body)
