"""`python -m tests.chaos`: ten minutes of faults, then the ten invariants. Reads MINUTES and SEED."""

import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Final

from tests.chaos.provider import Scripted
from tests.chaos.running import Outcome, Trial, run

MINUTES: Final = 10.0
REST: Final = 240.0
MOST_SHOWN: Final = 40
"""Violations of one invariant."""


def main() -> int:
    """Run it all; the exit code is 0 when every promise was kept."""
    seed = int(os.environ.get("SEED") or random.randrange(2**32))
    seconds = float(os.environ.get("MINUTES") or MINUTES) * 60
    tell(f"seed {seed}, {seconds:.0f} s")
    # An end that is asked for ends what was started, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="knowgate-chaos-"))
    provider = Scripted(folder / "provider.sqlite")
    try:
        outcome = run(Trial(seed=seed, seconds=seconds, rest=REST), folder / "home", provider, tell)
    except KeyboardInterrupt:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    tell(f"took {time.monotonic() - started:.0f} s")
    complain(outcome, folder)
    if outcome.is_clean:
        shutil.rmtree(folder, ignore_errors=True)
    tell(json.dumps(asdict(outcome.report)))
    return 0 if outcome.is_clean else 1


def complain(outcome: Outcome, folder: Path) -> None:
    """Tell what was not kept and where to look for the reason."""
    shown: Counter[str] = Counter()
    for violation in outcome.violations:
        shown[violation.invariant] += 1
        if shown[violation.invariant] <= MOST_SHOWN:
            tell(f"{violation.invariant}: {violation.text}")
    for text, times in outcome.strange.most_common(MOST_SHOWN):
        tell(f"strange answer, {times} times: {text}")
    if not outcome.is_clean:
        tell(f"logs, broker, objects and provider are kept in {folder}")


def tell(line: str) -> None:
    """Print a line now."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
