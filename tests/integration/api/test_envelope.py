"""Every answer, the framework's own errors included, keeps the envelope."""

from collections.abc import AsyncIterator

import pytest

from tests.integration.api.harness import KNOWLEDGE, Gateway, checked_error, space_request

SPACES = f"{KNOWLEDGE}/spaces"


async def test_a_success_carries_data_and_meta_and_nothing_else(gateway: Gateway) -> None:
    answer = await gateway.get("/spaces")

    assert answer.json().keys() == {"data", "meta"}
    assert answer.headers["content-type"] == "application/json"
    meta = answer.json()["meta"]
    assert meta.pop("traceId").isalnum()
    assert meta == {
        "success": True,
        "requestId": "request-1",
        "timestamp": "2031-05-06T07:08:09.000Z",
        "apiVersion": "v1",
        "pagination": {"page": 1, "pageSize": 20, "totalItems": 0, "totalPages": 0, "hasNext": False},
        "error": None,
    }


async def test_answers_are_not_stored_and_repeat_the_request_id(gateway: Gateway) -> None:
    answer = await gateway.http.get(SPACES, headers=gateway.headers(x_request_id="knowledge-42"))

    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-request-id"] == "knowledge-42"
    assert answer.json()["meta"]["requestId"] == "knowledge-42"


async def test_a_long_request_id_is_cut_to_what_an_answer_may_hold(gateway: Gateway) -> None:
    answer = await gateway.http.get(SPACES, headers=gateway.headers(x_request_id="r" * 256))

    assert answer.status_code == 200
    assert answer.json()["meta"]["requestId"] == "r" * 128


async def test_the_trace_of_the_caller_is_carried_on(gateway: Gateway) -> None:
    traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    answer = await gateway.http.get(SPACES, headers=gateway.headers(traceparent=traceparent))

    assert answer.json()["meta"]["traceId"] == "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.mark.parametrize(
    "path", [f"{KNOWLEDGE}/nothing", f"{SPACES}/", "/admin/v1/spaces", "/internal/v1/filings/x", "/"]
)
async def test_an_unknown_path_is_a_404_in_the_envelope(gateway: Gateway, path: str) -> None:
    answer = await gateway.http.get(path, headers=gateway.headers())

    checked_error(answer, 404, "KNOWLEDGE_NOT_FOUND")


@pytest.mark.parametrize("method", ["DELETE", "PUT", "HEAD", "OPTIONS", "TRACE"])
async def test_a_wrong_method_is_a_405_that_names_the_right_ones(gateway: Gateway, method: str) -> None:
    answer = await gateway.http.request(method, SPACES, headers=gateway.headers())

    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, POST"
    assert answer.headers["x-request-id"] == "request-1"
    if method != "HEAD":
        checked_error(answer, 405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "NOT_JSON"),
        (b"{", "NOT_JSON"),
        (b'{"code": NaN}', "WRONG_TYPE"),
        (b'{"code": "\xff"}', "NOT_JSON"),
        (b'{"code": "\\ud800"}', "NOT_JSON"),
        (b"[" * 100_000, "NOT_JSON"),
        (b"[]", "WRONG_TYPE"),
        (b"{}", "MISSING"),
    ],
)
async def test_a_body_that_is_not_what_it_should_be_is_a_422(gateway: Gateway, content: bytes, reason: str) -> None:
    headers = gateway.headers(content_type="application/json", idempotency_key="k")

    answer = await gateway.http.post(SPACES, headers=headers, content=content)

    assert checked_error(answer, 422, "KNOWLEDGE_INVALID_INPUT")["fieldErrors"][0]["reason"] == reason


async def test_an_unknown_field_is_a_422_that_names_it(gateway: Gateway) -> None:
    answer = await gateway.post("/spaces", {**space_request(), "operationId": "op_1"})

    assert checked_error(answer, 422, "KNOWLEDGE_INVALID_INPUT")["fieldErrors"] == [
        {"field": "$.operationId", "reason": "UNKNOWN_FIELD", "message": "There is no such field"}
    ]


@pytest.mark.parametrize(
    "changed",
    [
        {"content_type": None},
        {"content_type": "text/plain"},
        {"content_type": "application/json; charset=utf-16"},
        {"content_type": "application/json", "content_encoding": "gzip"},
    ],
)
async def test_a_body_that_does_not_call_itself_json_is_a_415(gateway: Gateway, changed: dict[str, str | None]) -> None:
    headers = gateway.headers(idempotency_key="k", **changed)

    answer = await gateway.http.post(SPACES, headers=headers, content=b"{}")

    checked_error(answer, 415, "UNSUPPORTED_MEDIA_TYPE")


async def test_json_may_name_its_charset(gateway: Gateway) -> None:
    headers = gateway.headers(idempotency_key="k", content_type='Application/JSON; charset="UTF-8"')

    answer = await gateway.http.post(SPACES, headers=headers, content=b"{}")

    checked_error(answer, 422, "KNOWLEDGE_INVALID_INPUT")


async def test_a_body_that_announces_too_much_is_a_413_before_it_is_read(gateway: Gateway) -> None:
    taken: list[bytes] = []

    async def body() -> AsyncIterator[bytes]:
        taken.append(b"{}")
        yield taken[-1]

    headers = gateway.headers(content_type="application/json", idempotency_key="k", content_length=str(10**12))

    answer = await gateway.http.post(SPACES, headers=headers, content=body())

    checked_error(answer, 413, "REQUEST_TOO_LARGE")
    assert taken == []


async def test_a_body_that_goes_on_for_too_long_is_a_413(gateway: Gateway) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 65_536

    headers = gateway.headers(content_type="application/json", idempotency_key="k")

    answer = await gateway.http.post(SPACES, headers=headers, content=endless())

    checked_error(answer, 413, "REQUEST_TOO_LARGE")


@pytest.mark.parametrize("path", ["/spaces/spc_1?expand=all", "/spaces?cursor=abc", "/operations/op_1?x"])
async def test_an_unknown_query_parameter_is_a_422(gateway: Gateway, path: str) -> None:
    answer = await gateway.get(path)

    checked_error(answer, 422, "KNOWLEDGE_INVALID_INPUT")


async def test_a_flood_of_query_parameters_is_a_422(gateway: Gateway) -> None:
    answer = await gateway.get("/spaces?" + "&".join(f"p{number}=1" for number in range(1000)))

    checked_error(answer, 422, "KNOWLEDGE_INVALID_INPUT")


@pytest.mark.parametrize("key", [None, "", "has space", "k" * 129, "schlüssel"])
async def test_a_change_needs_a_proper_idempotency_key(gateway: Gateway, key: str | None) -> None:
    headers = list(gateway.headers().items())
    raw = [(name.encode(), value.encode()) for name, value in headers]
    if key is not None:
        raw.append((b"idempotency-key", key.encode()))

    answer = await gateway.http.post(SPACES, headers=raw, json=space_request())

    assert checked_error(answer, 422, "KNOWLEDGE_INVALID_INPUT")["fieldErrors"][0]["field"] == "Idempotency-Key"


async def test_an_error_with_many_long_fields_stays_within_what_the_client_reads(gateway: Gateway) -> None:
    body = {f"{'字' * 230}{number}": 1 for number in range(200)}

    answer = await gateway.post("/spaces", body)

    assert checked_error(answer, 422, "KNOWLEDGE_INVALID_INPUT")["fieldErrors"]
    assert len(answer.content) <= 65_536


async def test_what_is_there_is_told_to_known_callers_alone(gateway: Gateway) -> None:
    answer = await gateway.http.post(f"{KNOWLEDGE}/documents/doc_1:delete")

    checked_error(answer, 401, "KNOWLEDGE_UNAUTHENTICATED")
