"""The two consoles: answers go to stdout, what is told beside them to stderr."""

from rich.console import Console


def answers() -> Console:
    """For what was asked for."""
    return Console(highlight=False, soft_wrap=True)


def remarks() -> Console:
    """For progress and errors."""
    return Console(stderr=True, highlight=False)
