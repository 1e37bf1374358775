"""`python -m tests.matrix`: the whole walk over the whole api, on a SQLite database of its own."""

import json
import logging
import sys
import tempfile
import time
from pathlib import Path

import anyio
import structlog
import typer
from pydantic import SecretStr

from shared.contracts.routes import ROUTES_BY_TOOL
from shared.database.migrate import upgrade
from shared.database.settings import DatabaseSettings
from tests.integration.api.harness import running_gateway
from tests.matrix.running import walk_everything
from tests.matrix.walking import Walk


async def run(folder: Path, settings: DatabaseSettings) -> Walk:
    """The walk through a gateway that is gone afterwards."""
    async with running_gateway(settings, folder) as gateway:
        return await walk_everything(gateway)


def main() -> int:
    """The exit code is 0 when every route was walked and nobody has seen, done or been refused what is not theirs."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="knowgate-matrix-") as directory:
        settings = DatabaseSettings(url=SecretStr(f"sqlite:///{directory}/knowgate.db"))
        upgrade(settings)
        walk = anyio.run(run, Path(directory), settings)
    typer.echo(f"{time.monotonic() - started:.0f} s")
    for leak in walk.leaks:
        typer.echo(leak)
    typer.echo(json.dumps({"routes": len(walk.tools), "cases": walk.cases, "leaks": len(walk.leaks)}))
    return 0 if not walk.leaks and ROUTES_BY_TOOL.keys() <= walk.tools else 1


if __name__ == "__main__":
    sys.exit(main())
