"""`python -m tests.poison`: every poison on a gateway with the embedded engine, 100 good documents after each (GOOD=).

The last line is JSON.
"""

import logging
import os
import sys
from datetime import timedelta
from typing import Final

import structlog

from shared.contracts.commands import ProviderKind
from tests.poison.run import run
from tests.poison.scene import Trial

GOOD: Final = 100


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Run it; the exit code is 0 when the bad ones have ended and the good ones have succeeded."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    trial = Trial(
        good=int(os.environ.get("GOOD") or GOOD),
        provider=ProviderKind.EMBEDDED,
        workers=4,
        ack_wait=timedelta(seconds=5),
    )
    result = run(trial, _tell)
    _tell(result.line())
    return 0 if result.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
