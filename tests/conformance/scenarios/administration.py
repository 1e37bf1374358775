"""What operators do on the admin API, the product's own: its answers keep the envelope, but have no schema here."""

import hashlib
from typing import Final

from tests.conformance.answers import Json
from tests.conformance.client import expect
from tests.conformance.contract import Route
from tests.conformance.identity import OSCAR
from tests.conformance.scenarios.scenario import World

ROOT: Final = "/admin/v1"


async def administer(world: World, path: str, body: Json, *, status: int = 200) -> Json:
    """Ask the admin API for a change that must succeed."""
    route = Route(tool=f"admin{path}", method="POST", path=f"{ROOT}{path}", status=status, wants_key=True)
    answer = await world.speaker.of(OSCAR).post(route, body)
    expect(answer.is_success, f"{path} answered {answer.status} {answer.code}: {answer.error.get('fieldErrors')}")
    return answer.data


async def switch_space(world: World, space_id: str, *, enabled: bool) -> None:
    """Disable or enable a space."""
    await administer(world, f"/spaces/{space_id}:{'enable' if enabled else 'disable'}", {"reason": "a trial"})


async def switch_account(world: World, subject: str, *, enabled: bool) -> None:
    """Disable or enable a user's account."""
    await administer(world, f"/accounts/{subject}:{'enable' if enabled else 'disable'}", {"reason": "a trial"})


async def revoke_assertion(world: World, assertion: str) -> None:
    """Have one assertion refused from here on."""
    digest = hashlib.sha256(assertion.rpartition(".")[0].encode()).hexdigest()
    await administer(world, "/revocations", {"kind": "assertion", "value": digest}, status=201)


async def make_token(world: World) -> tuple[str, str]:
    """A new service token of the tenant: its id and its text."""
    made = await administer(world, "/service-tokens", {"service": "harness"}, status=201)
    return made["tokenId"], made["token"]


async def revoke_token(world: World, token_id: str) -> None:
    """Have a service token refused from here on."""
    await administer(world, f"/service-tokens/{token_id}:revoke", {})


async def grant(world: World, space_id: str, subject: str) -> None:
    """Let a user into a space."""
    await administer(world, f"/spaces/{space_id}/grants", {"principal": {"kind": "user", "name": subject}})


async def revoke_grant(world: World, space_id: str, subject: str) -> None:
    """Take such a grant back."""
    await administer(world, f"/spaces/{space_id}/grants:revoke", {"principal": {"kind": "user", "name": subject}})
