"""A request as its idempotency key covers it: the same thing asked twice has one digest, however it is written."""

import hashlib
import json
from collections.abc import Mapping

from shared.contracts.body import Body
from shared.contracts.route import Route


def request_digest(route: Route, ids: Mapping[str, str], body: Body) -> str:
    """SHA-256, in hex, of the route, the ids in its path and the body as its model writes it."""
    target = json.dumps([route.tool, sorted(ids.items())], ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(target.encode() + b"\n" + body.to_json()).hexdigest()


def key_digest(key: str) -> str:
    """SHA-256, in hex, of an idempotency key: the audit tells which requests had the same, not what it was."""
    return hashlib.sha256(key.encode()).hexdigest()
