"""The commands of those who manage access, against a real address: what they ask for happens, and is told."""

import pytest

from services.cli.complaints import Complaint
from tests.integration.api.administrating import admin_get
from tests.integration.api.commanding import line
from tests.integration.api.harness import ALICE, KNOWLEDGE, Gateway
from tests.integration.api.serving import served


async def status(gateway: Gateway, headers: dict[str, str]) -> int:
    return (await gateway.http.get(f"{KNOWLEDGE}/spaces", headers=headers)).status_code


async def test_grants_are_added_listed_and_removed(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    document_id = await gateway.make_document(space_id)
    async with served(gateway) as address:
        cli = line(gateway, address)

        told = await cli.done("grants", "add", "--space", space_id, "--group", "editors")
        assert told == f"Space {space_id} is granted to group editors.\n"
        told = await cli.done("grants", "add", "--space", space_id, "--user", "erin", "--document", document_id)
        assert told == f"Document {document_id} is granted to user erin.\n"

        listed = [row.split() for row in (await cli.done("grants", "list", "--space", space_id)).splitlines()]
        assert ["user", "erin", document_id, "root", "2031-05-06", "07:08", "UTC"] in listed
        assert ["group", "editors", "-", "root", "2031-05-06", "07:08", "UTC"] in listed

        told = await cli.done("grants", "remove", "--space", space_id, "--group", "editors")
        assert told == f"Space {space_id} is not granted to group editors any more.\n"
        again = await cli.run("grants", "remove", "--space", space_id, "--group", "editors")

    assert isinstance(again.exception, Complaint)
    assert again.exception.what == "This is not granted to this user, group or role. [KNOWLEDGE_NOT_FOUND]"
    assert "Check the id" not in again.exception.remedy


@pytest.mark.parametrize(
    "words",
    [
        ("grants", "list"),
        ("grants", "add", "--user", "erin"),
        ("grants", "remove", "--user", "erin"),
        ("spaces", "disable"),
        ("search", "x"),
    ],
)
async def test_a_space_that_is_not_there_is_told_alike(gateway: Gateway, words: tuple[str, ...]) -> None:
    async with served(gateway) as address:
        result = await line(gateway, address).run(*words, "--space", "nowhere")

    assert isinstance(result.exception, Complaint)
    assert result.exception.what == "There is no space 'nowhere', or you may not see it."
    assert "--create" not in result.exception.remedy


async def test_a_role_that_is_not_usual_is_granted_with_a_remark(gateway: Gateway) -> None:
    space_id = await gateway.make_space()
    async with served(gateway) as address:
        cli = line(gateway, address)
        usual = await cli.run("grants", "add", "--space", space_id, "--role", "knowledge-reader")
        unusual = await cli.run("grants", "add", "--space", space_id, "--role", "nonsense")

    assert (usual.exit_code, usual.stderr) == (0, "")
    assert (unusual.exit_code, unusual.stdout) == (0, f"Space {space_id} is granted to role nonsense.\n")
    assert "usual roles are knowledge-reader, knowledge-maintainer" in unusual.stderr


@pytest.mark.parametrize(
    "words", [("accounts", "disable", "root"), ("revoke", "subject", "root"), ("revoke", "session", "cli-session")]
)
async def test_nobody_shuts_themselves_out_by_mistake(gateway: Gateway, words: tuple[str, ...]) -> None:
    async with served(gateway) as address:
        cli = line(gateway, address)
        result = await cli.run(*words)
        assert isinstance(result.exception, Complaint)
        assert result.exception.what == "You would shut yourself out."
        await cli.done("accounts", "list")

        if words[0] == "revoke":
            await cli.done(*words, "--yes")
            assert (await cli.run("accounts", "list")).exit_code == 1


async def test_a_space_that_one_may_see_is_named_by_its_code(gateway: Gateway) -> None:
    space_id = await gateway.make_space("handbook")
    async with served(gateway) as address:
        cli = line(gateway, address)
        await cli.done("grants", "add", "--space", space_id, "--user", "root")

        assert await cli.done("spaces", "disable", "--space", "handbook", "--reason", "x") == (
            "Space handbook is DISABLED.\n"
        )
        assert await cli.done("spaces", "enable", "--space", "handbook") == "Space handbook is ACTIVE.\n"


async def test_accounts_are_set_shown_disabled_and_enabled_again_and_again(gateway: Gateway) -> None:
    async with served(gateway) as address:
        cli = line(gateway, address)
        assert "keeps no accounts yet" in await cli.done("accounts", "list")

        told = await cli.done("accounts", "set", "alice", "--group", "a", "--group", "b", "--role", "knowledge-reader")
        assert told == "alice is managed here. Groups: a, b; roles: knowledge-reader; domains: -.\n"
        assert '"groups": [' in await cli.done("accounts", "show", "alice")
        for action, expected in (("disable", 401), ("enable", 200), ("disable", 401)):
            await cli.done("accounts", action, "alice")
            assert await status(gateway, gateway.headers(ALICE)) == expected
        assert "DISABLED" in await cli.done("accounts", "list")


async def test_tokens_are_created_printed_once_listed_and_revoked(gateway: Gateway) -> None:
    async with served(gateway) as address:
        cli = line(gateway, address)

        token = (await cli.done("tokens", "create", "loader", "--days", "1")).strip()
        assert await status(gateway, gateway.headers(authorization=f"Bearer {token}")) == 200
        token_id = token.partition(".")[0]
        listed = await cli.done("tokens", "list")
        assert token_id in listed
        assert token.partition(".")[2] not in listed

        assert await cli.done("tokens", "revoke", token) == f"The token {token_id} of loader is revoked.\n"
        assert await status(gateway, gateway.headers(authorization=f"Bearer {token}")) == 401


@pytest.mark.parametrize("is_piped", [False, True])
async def test_an_assertion_is_revoked_by_itself(gateway: Gateway, *, is_piped: bool) -> None:
    headers = gateway.headers(ALICE)
    assertion = headers["x-user-assertion"]
    async with served(gateway) as address:
        cli = line(gateway, address)
        await cli.done("revoke", "assertion", "-" if is_piped else assertion, stdin=f"{assertion}\n")

    assert await status(gateway, headers) == 401
    (kept,) = (await admin_get(gateway, "/revocations")).json()["data"]["items"]
    assert kept["value"] != assertion


@pytest.mark.parametrize(("kind", "value"), [("session", "session-1"), ("subject", "alice")])
async def test_a_session_and_a_subject_are_revoked(gateway: Gateway, kind: str, value: str) -> None:
    headers = gateway.headers(ALICE)
    async with served(gateway) as address:
        told = await line(gateway, address).done("revoke", kind, value)

    assert told == f"Assertions of {kind} {value} issued up to 2031-05-06 07:08 UTC are refused.\n"
    assert await status(gateway, headers) == 401
