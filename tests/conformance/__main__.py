"""`python -m tests.conformance`: every rule a line, the last line one JSON object; fails unless every rule holds."""

import sys

from tests.conformance.run import run


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    result = run(_tell)
    _tell(result.line())
    sys.exit(not result.is_clean)
