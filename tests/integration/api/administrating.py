"""Asks the admin API of the gateway under test."""

import httpx

from shared.telemetry.stamps import new_id
from tests.integration.api.harness import Gateway, User

ADMIN = "/admin/v1"
ROOT = User(subject="root", roles=("gateway-admin",))
EDITOR = {"kind": "group", "name": "editors"}


async def admin_get(gateway: Gateway, path: str, user: User = ROOT, /, **params: object) -> httpx.Response:
    """Read something as an administrator."""
    query = {name: str(value) for name, value in params.items()}
    return await gateway.http.get(ADMIN + path, headers=gateway.headers(user), params=query or None)


async def admin_post(
    gateway: Gateway, path: str, body: object, user: User = ROOT, *, key: str | None = None, method: str = "POST"
) -> httpx.Response:
    """Change something as an administrator."""
    headers = gateway.headers(user, idempotency_key=key or new_id("key"))
    return await gateway.http.request(method, ADMIN + path, headers=headers, json=body)


async def administered(gateway: Gateway, path: str, body: object, *, method: str = "POST") -> dict[str, object]:
    """The data of a change that succeeds."""
    answer = await admin_post(gateway, path, body, method=method)
    assert answer.is_success, answer.text
    found: dict[str, object] = answer.json()["data"]
    return found


def principal(kind: str, name: str) -> dict[str, str]:
    """A user, a group or a role."""
    return {"kind": kind, "name": name}
