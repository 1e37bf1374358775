"""Command lines that talk to the gateway under test."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from typer.testing import CliRunner, Result

from services.cli.main import build
from tests.integration.api.harness import TOKEN, Gateway, User

ROOT = User(subject="root", roles=("gateway-admin",), session="cli-session")


@dataclass(frozen=True, slots=True)
class Line:
    """A command line that talks to the gateway under test."""

    env: Mapping[str, str]

    async def run(self, *words: str, stdin: str | None = None) -> Result:
        """Whatever it comes to."""

        def invoke() -> Result:
            return CliRunner().invoke(build(), words, input=stdin, env=self.env)

        return await asyncio.get_running_loop().run_in_executor(None, invoke)

    async def done(self, *words: str, stdin: str | None = None) -> str:
        """What it prints, when it succeeds."""
        result = await self.run(*words, stdin=stdin)
        assert result.exit_code == 0, (result.output, result.exception)
        return result.stdout


def line(gateway: Gateway, address: str) -> Line:
    """The command line of an administrator."""
    return Line(
        {
            "KNOWGATE_CLI_URL": address,
            "KNOWGATE_CLI_SERVICE_TOKEN": TOKEN,
            "KNOWGATE_CLI_ASSERTION": gateway.assertion(ROOT),
            "KNOWGATE_CLI_SESSION_ID": ROOT.session,
        }
    )
