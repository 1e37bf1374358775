"""Derived names, held against vectors of the agents' client."""

import pytest

from shared.client.keys import idempotency_key, request_id


@pytest.mark.parametrize(
    ("parts", "key"),
    [
        (
            ("session-1", "root-1", "call-1", "knowledge_document_upload"),
            "knowledge:d310743b7e9610f71e4684ad682cc1e79b1010790b986db7e611a9b397b0c096",
        ),
        (
            ("会话", 'r"1', "c\u2028", "knowledge_space_create"),
            "knowledge:42029d1527df561081ad2798545024553aef428590733213d726b230bbe8b4e3",
        ),
    ],
)
def test_the_same_parts_give_the_key_that_the_agents_client_makes(parts: tuple[str, ...], key: str) -> None:
    assert idempotency_key(*parts) == key


def test_parts_do_not_run_into_each_other() -> None:
    assert idempotency_key("a", "bc") != idempotency_key("ab", "c")


def test_the_request_id_names_session_and_call() -> None:
    assert request_id("session-1", "call-1") == "knowledge-eb8ccf651372cda868564a602768dbbd"
