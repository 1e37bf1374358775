"""Answers in the envelope, as bytes: a success, a page of a list, an error."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import orjson
from starlette.responses import Response

from services.api.edge.stamps import Stamps
from shared.contracts.body import Body
from shared.contracts.envelope import ErrorEnvelope
from shared.contracts.errors import ApiError
from shared.contracts.paging import ListQuery, Pagination
from shared.contracts.wire import format_time

JSON: Final = "application/json"
API_VERSION: Final = "v1"
REPLAY_HEADER: Final = "X-Idempotent-Replay"
LONGEST_ERROR: Final = 65_536
"""Bytes of an error's body that the agents' client reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a handler answers: a status and the JSON of what was asked for, with a pagination if it is a list."""

    status: int
    content: bytes
    pagination: Pagination | None = None
    is_replay: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of this answer alone; only forms beside the envelope have any."""


def found(body: Body) -> Answer:
    """A 200 with one thing."""
    return Answer(status=200, content=body.to_json())


def page_of(body: Body, query: ListQuery, total: int) -> Answer:
    """A 200 with one page of a list."""
    return Answer(status=200, content=body.to_json(), pagination=Pagination.of(query.page, query.page_size, total))


def success_response(answer: Answer, stamps: Stamps, now: datetime) -> Response:
    """The whole answer to a request that succeeded."""
    content = b'{"data":' + answer.content + b',"meta":' + success_meta(answer.pagination, stamps, now) + b"}"
    headers = {REPLAY_HEADER: "true"} if answer.is_replay else None
    return Response(content, answer.status, headers, media_type=JSON)


def success_meta(pagination: Pagination | None, stamps: Stamps, now: datetime) -> bytes:
    """`meta` of a success, as the contract's models would write it."""
    return orjson.dumps(
        {
            "success": True,
            "requestId": stamps.request_id,
            "traceId": stamps.trace_id,
            "timestamp": format_time(now),
            "apiVersion": API_VERSION,
            "pagination": None if pagination is None else orjson.Fragment(pagination.to_json()),
            "error": None,
        }
    )


def error_response(
    error: ApiError, status: int, stamps: Stamps, now: datetime, headers: Mapping[str, str] | None = None
) -> Response:
    """The whole answer to a request that did not succeed, never longer than the client reads."""
    content = ErrorEnvelope.of(stamps.request_id, stamps.trace_id, now, error).to_json()
    while len(content) > LONGEST_ERROR:
        fewer = error.field_errors[: len(error.field_errors) // 2]
        error = error.model_copy(update={"field_errors": fewer})
        content = ErrorEnvelope.of(stamps.request_id, stamps.trace_id, now, error).to_json()
    return Response(content, status, headers, media_type=JSON)
