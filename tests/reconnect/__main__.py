"""`python -m tests.reconnect`: 1,000 restarts of the broker; RESTARTS, SEED and CLUSTER are read from the environment.

With CLUSTER=1 the broker is a cluster of three, and a restart is one of a node that is drawn. The last line is JSON.
"""

import logging
import os
import random
import sys
from typing import Final

import structlog

from tests.reconnect.run import Trial, run

RESTARTS: Final = 1000


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Run it; the exit code is 0 when nothing was lost and nothing stalled."""
    trial = Trial(
        restarts=int(os.environ.get("RESTARTS") or RESTARTS),
        seed=int(os.environ.get("SEED") or random.randrange(2**32)),
        is_cluster=bool(int(os.environ.get("CLUSTER") or 0)),
    )
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    _tell(f"seed {trial.seed}")
    result = run(trial, _tell)
    _tell(result.line())
    return 0 if result.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
