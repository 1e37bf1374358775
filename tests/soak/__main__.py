"""`python -m tests.soak`: 20 minutes of steady load (MINUTES=), then how fast each process grows, as JSON."""

import logging
import os
import sys
from typing import Final

import structlog

from tests.soak.run import run

MINUTES: Final = 20.0


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Run it; the exit code is 0 when everything succeeded and no process surely grows by more than the bar."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    result = run(float(os.environ.get("MINUTES") or MINUTES), _tell)
    _tell(result.line())
    return 0 if result.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
