"""Byte ranges."""

import pytest

from services.api.downloads.ranges import Unsatisfiable, wanted_span
from shared.files.store import ByteSpan

ETAG = '"abc"'


@pytest.mark.parametrize(
    ("header", "span"),
    [
        (None, None),
        ("bytes=0-0", ByteSpan(0, 1)),
        ("bytes=2-5", ByteSpan(2, 6)),
        ("bytes=2-", ByteSpan(2, 10)),
        ("bytes=-3", ByteSpan(7, 10)),
        ("bytes=-30", ByteSpan(0, 10)),
        ("bytes=9-99", ByteSpan(9, 10)),
        ("bytes=10-", Unsatisfiable()),
        ("bytes=-0", Unsatisfiable()),
        ("bytes=5-2", None),
        ("bytes=0-1,4-5", None),
        ("bytes=-", None),
        ("Bytes=0-1", None),
        ("bytes=٠-١", None),
        ("bytes=" + "9" * 30 + "-", None),
    ],
)
def test_a_range_of_ten_bytes(header: str | None, span: ByteSpan | Unsatisfiable | None) -> None:
    assert wanted_span(header, None, ETAG, 10) == span


def test_a_range_holds_only_for_the_state_that_it_was_meant_for() -> None:
    assert wanted_span("bytes=0-1", ETAG, ETAG, 10) == ByteSpan(0, 2)
    assert wanted_span("bytes=0-1", '"other"', ETAG, 10) is None
    assert wanted_span("bytes=0-1", "W/" + ETAG, ETAG, 10) is None
