"""`python -m tests.fuzz`: a gateway of its own, 2,000 cases or more; CASES and SEED are read from the environment."""

import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Final

import anyio
import typer

from services.cli.stack import Stack
from shared.contracts.openapi import build_openapi
from shared.contracts.routes import ROUTES
from tests.fuzz.live import Live
from tests.fuzz.preparing import fill
from tests.fuzz.running import Findings, fuzz

CASES: Final = 2000
EVERY_PHASE: Final = {"examples": True, "coverage": True, "fuzzing": True, "stateful": True}
MOST_SHOWN: Final = 40


def main() -> int:
    """Run it all; the exit code is 0 when every route was asked often enough and every answer was right."""
    cases = int(os.environ.get("CASES") or CASES)
    seed = int(os.environ.get("SEED") or random.randrange(2**32))
    typer.echo(f"seed {seed}, at least {cases} cases")
    started = time.monotonic()
    found = run(cases, seed)
    typer.echo(f"{time.monotonic() - started:.0f} s, answers by status: {dict(sorted(found.statuses.items()))}")
    tell(found)
    is_whole = len(found.routes) == len(ROUTES) and found.cases >= cases
    typer.echo(
        json.dumps(
            {
                "routes": len(found.routes),
                "cases": found.cases,
                "server_errors": len(found.server_errors),
                "schema_deviations": len(found.deviations),
            }
        )
    )
    return 0 if is_whole and not found.server_errors and not found.deviations else 1


def run(cases: int, seed: int) -> Findings:
    """Come up in a temporary home, fill it, fuzz it, go down."""
    live = Live()
    with tempfile.TemporaryDirectory(prefix="knowgate-fuzz-") as directory, Stack(Path(directory)) as stack:
        access = stack.access()
        anyio.run(fill, access, live)
        # About half of the cases come from the phase that goes through the bounds of every schema.
        return fuzz(
            access.url,
            build_openapi("0"),
            live,
            access.credentials.headers,
            seed=seed,
            examples=-(-cases // (2 * len(ROUTES))),
            phases=EVERY_PHASE,
        )


def tell(found: Findings) -> None:
    """Print what was wrong, each kind once."""
    for text, times in Counter(found.server_errors).most_common(MOST_SHOWN):
        typer.echo(f"\nserver error, {times} times: {text}")
    kinds = Counter((deviation.label, deviation.check) for deviation in found.deviations)
    for (label, check), times in kinds.most_common(MOST_SHOWN):
        first = next(one for one in found.deviations if (one.label, one.check) == (label, check))
        typer.echo(f"\n{check}, {label}, {times} times: {first.text}\n{first.reproduce}")


if __name__ == "__main__":
    sys.exit(main())
