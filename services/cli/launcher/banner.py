"""What a person needs to use the gateway that has just come up: address, credentials, requests to paste."""

import json
import shlex
from collections.abc import Mapping

from services.cli.access import Access
from shared.contracts.route import REQUEST_ID, TOOL_CALL_ID
from shared.contracts.routes import SEARCH, SPACE_LIST
from shared.telemetry.stamps import new_id

QUESTION = {"query": "How long is data kept?", "limit": 3}


def request_headers(access: Access) -> dict[str, str]:
    """The headers of one request; good for ten minutes."""
    return access.credentials.headers() | {TOOL_CALL_ID.name: new_id("call"), REQUEST_ID.name: new_id("req")}


def curl_line(access: Access, headers: Mapping[str, str], path: str, body: object = None) -> str:
    """A request for a POSIX shell; a local gateway is not asked through a proxy."""
    words = ["curl", "-sS", "--noproxy", "127.0.0.1"]
    for name, value in headers.items():
        words += ["-H", f"{name}: {value}"]
    if body is not None:
        words += ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
    return shlex.join([*words, f"{access.url}{path}"])


def example_lines(access: Access) -> list[str]:
    """Requests that work as they are: the spaces that one may see, and a search."""
    headers = request_headers(access)
    return [curl_line(access, headers, SPACE_LIST.path), curl_line(access, headers, SEARCH.path, QUESTION)]
