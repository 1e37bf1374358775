"""The printed requests are words of a shell that ask what they say."""

import shlex

from pydantic import SecretStr

from services.cli.access import Access
from services.cli.launcher.banner import example_lines
from shared.client.credentials import Credentials

ACCESS = Access(
    url="http://127.0.0.1:8080",
    credentials=Credentials(
        service_token=SecretStr("it's secret"), session_id="session-1", assertion=lambda: SecretStr("a.b.c")
    ),
)


def test_each_line_is_one_request_with_the_headers_of_the_contract() -> None:
    listing, search = (shlex.split(line) for line in example_lines(ACCESS))

    assert listing[0] == search[0] == "curl"
    assert listing[-1] == "http://127.0.0.1:8080/internal/v1/knowledge/spaces"
    assert search[-1] == "http://127.0.0.1:8080/internal/v1/knowledge/search"
    assert "Authorization: Bearer it's secret" in listing
    assert "X-User-Assertion: a.b.c" in search
    assert "X-Harness-Session-Id: session-1" in search
    assert '{"query": "How long is data kept?", "limit": 3}' in search
