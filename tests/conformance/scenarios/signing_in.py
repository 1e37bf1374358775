"""Row 2 of the client's list: who is known, and who is not."""

import asyncio
from dataclasses import replace
from typing import Final

from tests.conformance.client import Client, expect
from tests.conformance.contract import ROUTES
from tests.conformance.identity import ALICE, FOREIGNER, User
from tests.conformance.scenarios.acts import new_space
from tests.conformance.scenarios.administration import (
    make_token,
    revoke_assertion,
    revoke_token,
    switch_account,
)
from tests.conformance.scenarios.scenario import World, rule

UNAUTHENTICATED: Final = "KNOWLEDGE_UNAUTHENTICATED"


async def refused_with(client: Client, assertion: str) -> None:
    await client.refused(UNAUTHENTICATED, "space_list", headers={"X-User-Assertion": assertion})


@rule("R2 a service token of nobody is refused, in whatever form it comes")
async def needs_a_token(world: World) -> None:
    token = world.speaker.issuer.token
    for value in ("Bearer nobody's", f"Bearer {token}x", f"Basic {token}", token, "Bearer", f"Bearer  {token}"):
        await world.speaker.refused(UNAUTHENTICATED, "space_list", headers={"Authorization": value})


@rule("R2 every live token of a service is taken, so that it may change from one to the next")
async def rotates_tokens(world: World) -> None:
    client = world.speaker
    first, second = client.issuer.token, client.issuer.next_token
    for token in (first, second, first):
        answer = await client.call("space_list", headers={"Authorization": f"Bearer {token}"})
        expect(answer.status == 200, f"it answered {answer.status}")


@rule("R2 a service token speaks for its own tenants alone")
async def binds_tokens_to_tenants(world: World) -> None:
    narrow = {"Authorization": f"Bearer {world.speaker.issuer.narrow_token}"}
    await world.speaker.refused(UNAUTHENTICATED, "space_list", headers=narrow)
    answer = await world.speaker.of(FOREIGNER).call("space_list", headers=narrow)
    expect(answer.status == 200, f"for its own tenant it answered {answer.status}")


@rule("R2 an assertion that is expired, too long-lived, or not yet good is refused")
async def keeps_time(world: World) -> None:
    client, issuer = world.speaker, world.speaker.issuer
    await refused_with(client, issuer.assertion(ALICE, age=700))
    await refused_with(client, issuer.assertion(ALICE, life=60, age=90))
    await refused_with(client, issuer.assertion(ALICE, life=3600))
    await refused_with(client, issuer.assertion(ALICE, age=-300))


@rule("R2 an assertion of another issuer, for another audience, or signed by another key is refused")
async def knows_its_issuer(world: World) -> None:
    client, issuer = world.speaker, world.speaker.issuer
    await refused_with(client, issuer.assertion(ALICE, by_stranger=True))
    await refused_with(client, issuer.assertion(ALICE, iss="https://elsewhere.example"))
    await refused_with(client, issuer.assertion(ALICE, aud="something-else"))
    whole = issuer.assertion(ALICE)
    head, claims, _ = whole.split(".")
    await refused_with(client, f"{head}.{claims}.")
    await refused_with(client, f"eyJhbGciOiJub25lIn0.{claims}.")
    await refused_with(client, "not an assertion".replace(" ", "-"))


@rule("R2 an assertion is good in its own session alone")
async def binds_sessions(world: World) -> None:
    client = world.speaker
    await client.refused(UNAUTHENTICATED, "space_list", headers={"X-Harness-Session-Id": "session-2"})
    await client.of(replace(ALICE, session="session-2")).ask("space_list")


@rule("R2 a renewed assertion takes effect at once, with what it says anew")
async def takes_renewed_assertions(world: World) -> None:
    space_id = await new_space(world.speaker)
    less = replace(ALICE, domains=("elsewhere",))
    await world.speaker.of(less).refused("SPACE_NOT_FOUND", "space_get", space_id)
    await world.speaker.ask("space_get", space_id)


@rule("R2 an assertion that was revoked is refused at once, and another one of the same user is not")
async def refuses_revoked_assertions(world: World) -> None:
    carol = world.speaker.of(User(subject="carol", session="session-of-carol"))
    assertion = carol.issuer.assertion(carol.user)
    headers = {"X-User-Assertion": assertion}
    expect((await carol.call("space_list", headers=headers)).status == 200, "it was not good at first")
    await revoke_assertion(world, assertion)
    await refused_with(carol, assertion)
    await carol.ask("space_list")


@rule("R2 a user whose account is disabled is refused at once, and let in again when it is enabled")
async def refuses_disabled_accounts(world: World) -> None:
    dave = world.speaker.of(User(subject="dave"))
    await dave.ask("space_list")
    await switch_account(world, "dave", enabled=False)
    await dave.refused(UNAUTHENTICATED, "space_list")
    await dave.of(replace(dave.user, session="session-2")).refused(UNAUTHENTICATED, "space_list")
    await switch_account(world, "dave", enabled=True)
    await dave.ask("space_list")


@rule("R2 a service token that an operator makes is good until it is revoked")
async def refuses_revoked_tokens(world: World) -> None:
    token_id, token = await make_token(world)
    headers = {"Authorization": f"Bearer {token}"}
    expect((await world.speaker.call("space_list", headers=headers)).status == 200, "it was not good at first")
    await world.speaker.of(FOREIGNER).refused(UNAUTHENTICATED, "space_list", headers=headers)
    await revoke_token(world, token_id)
    await world.speaker.refused(UNAUTHENTICATED, "space_list", headers=headers)


@rule("R2 users who ask at the same time are each answered with what is theirs")
async def mixes_nobody_up(world: World) -> None:
    tenants = [User(subject="dora", tenant=f"tenant-{number}") for number in range(4)]
    owned = {user: await new_space(world.speaker.of(user)) for user in tenants}

    async def sees(user: User) -> set[str]:
        listed = await world.speaker.of(user).ask("space_list")
        return {item["spaceId"] for item in listed["items"]}

    asked = tenants * 8
    for user, seen in zip(asked, await asyncio.gather(*map(sees, asked)), strict=True):
        expect(seen == {owned[user]}, f"{user.tenant} was shown {seen}")


@rule("R2 what a caller without credentials asks for makes no difference")
async def tells_strangers_nothing(world: World) -> None:
    space_id = await new_space(world.speaker)
    nobody = {"Authorization": "Bearer nobody"}
    known = await world.speaker.refused(UNAUTHENTICATED, "space_get", space_id, headers=nobody)
    unknown = await world.speaker.refused(UNAUTHENTICATED, "space_get", "of-nobody", headers=nobody)
    wrong = await world.speaker.send(ROUTES["knowledge_search"], "/internal/v1/knowledge/search", headers=nobody)

    expect(known.error == unknown.error == wrong.error, "the answers differ")


SCENARIOS: Final = (
    needs_a_token,
    rotates_tokens,
    binds_tokens_to_tenants,
    keeps_time,
    knows_its_issuer,
    binds_sessions,
    takes_renewed_assertions,
    refuses_revoked_assertions,
    refuses_disabled_accounts,
    refuses_revoked_tokens,
    mixes_nobody_up,
    tells_strangers_nothing,
)
