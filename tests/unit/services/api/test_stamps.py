"""What a request is known by."""

import re

import pytest

from services.api.edge.headers import read_headers
from services.api.edge.stamps import is_acceptable, stamp
from shared.contracts.route import REQUEST_ID

TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_what_a_request_brings_is_kept() -> None:
    stamps = stamp({"x-request-id": "knowledge-1", "traceparent": TRACEPARENT})

    assert (stamps.request_id, stamps.traceparent) == ("knowledge-1", TRACEPARENT)
    assert stamps.trace_id == "4bf92f3577b34da6a3ce929d0e0e4736"


def test_what_a_request_does_not_bring_is_made() -> None:
    stamps = stamp({})

    assert stamps.request_id.startswith("req_")
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", stamps.traceparent)


@pytest.mark.parametrize(
    "sent",
    [
        "",
        TRACEPARENT.upper(),
        TRACEPARENT + "-x",
        "00-" + "0" * 32 + "-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-" + "0" * 16 + "-01",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    ],
)
def test_a_trace_that_is_none_is_replaced(sent: str) -> None:
    assert stamp({"traceparent": sent}).traceparent != sent


@pytest.mark.parametrize("sent", ["", "a b", "a\tb", "é", "a\x7f", "r" * 257])
def test_a_request_id_that_may_not_be_is_replaced(sent: str) -> None:
    assert stamp({"x-request-id": sent}).request_id.startswith("req_")


@pytest.mark.parametrize(("length", "is_good"), [(0, False), (1, True), (256, True), (257, False)])
def test_lengths_are_those_of_the_contract(length: int, is_good: bool) -> None:
    assert is_acceptable("r" * length, REQUEST_ID) is is_good


def test_a_header_that_came_twice_is_joined() -> None:
    assert read_headers([(b"a", b"1"), (b"b", b"2"), (b"a", b"3")]) == {"a": "1, 3", "b": "2"}
