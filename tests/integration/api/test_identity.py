"""Who is calling: anything at all that is wrong with the credentials is the same 401."""

from datetime import timedelta

import pytest

from tests.integration.api.harness import ALICE, KNOWLEDGE, Gateway, User, checked_error

SPACES = f"{KNOWLEDGE}/spaces"

WRONG_HEADERS = [
    {"authorization": None},
    {"authorization": "Bearer of-bad-news"},
    {"authorization": "Basic YTpi"},
    {"authorization": "Bearer "},
    {"authorization": "Bearer a-service-token-of-the-tests more"},
    {"x_user_assertion": None},
    {"x_user_assertion": "eyJ.eyJ.x"},
    {"x_user_assertion": "a" * 8193},
    {"x_harness_session_id": None},
    {"x_harness_session_id": "session-2"},
    {"x_harness_session_id": "session 1"},
    {"x_harness_session_id": "s" * 257},
    {"x_tool_call_id": None},
    {"x_tool_call_id": "call\x7f"},
    {"x_request_id": None},
    {"x_request_id": "r" * 257},
]


@pytest.mark.parametrize("changed", WRONG_HEADERS)
async def test_whatever_is_wrong_with_the_credentials_the_answer_is_the_same(
    gateway: Gateway, changed: dict[str, str | None]
) -> None:
    answer = await gateway.http.get(SPACES, headers=gateway.headers(**changed))

    assert checked_error(answer, 401, "KNOWLEDGE_UNAUTHENTICATED") == {
        "code": "KNOWLEDGE_UNAUTHENTICATED",
        "message": "The credentials are missing or not valid.",
        "retryable": False,
        "fieldErrors": [],
    }


async def test_a_header_given_twice_is_not_believed(gateway: Gateway) -> None:
    headers = [*gateway.headers().items(), ("x-harness-session-id", "session-1")]

    checked_error(await gateway.http.get(SPACES, headers=headers), 401, "KNOWLEDGE_UNAUTHENTICATED")


async def test_a_service_does_not_speak_for_tenants_that_are_not_its(gateway: Gateway) -> None:
    answer = await gateway.get("/spaces", User(subject="alice", tenant="initech"))

    checked_error(answer, 401, "KNOWLEDGE_UNAUTHENTICATED")


async def test_an_assertion_is_good_for_its_ten_minutes(gateway: Gateway) -> None:
    headers = gateway.headers(ALICE)
    gateway.clock.move(timedelta(seconds=600))
    assert (await gateway.http.get(SPACES, headers=headers)).status_code == 200

    gateway.clock.move(timedelta(seconds=6))

    checked_error(await gateway.http.get(SPACES, headers=headers), 401, "KNOWLEDGE_UNAUTHENTICATED")


async def test_the_files_route_wants_the_same_credentials(gateway: Gateway) -> None:
    answer = await gateway.http.post("/internal/v1/files", content=b"text")

    checked_error(answer, 401, "KNOWLEDGE_UNAUTHENTICATED")
