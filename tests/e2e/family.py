"""Processes and what descends from them, by number, and a whole gateway of which none is left."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from services.cli.stack import Stack
from tests.support.children import wait_until_gone


def descendants(pid: int) -> list[int]:
    """Every process that descends from this one, itself left out."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (parent := _parent(int(entry.name))) is not None:
            children.setdefault(parent, []).append(int(entry.name))
    found, todo = [], [pid]
    while todo:
        for child in children.get(todo.pop(), []):
            found.append(child)
            todo.append(child)
    return found


def wait_until_all_gone(pids: list[int]) -> None:
    """Return when none of them runs any more; TimeoutError if one does."""
    for pid in pids:
        wait_until_gone(pid)


@contextmanager
def stack_of_its_own(folder: Path, variables: Mapping[str, str]) -> Iterator[Stack]:
    """A gateway with a home in `folder`; nothing of it runs afterwards."""
    with Stack(folder / "home", variables=variables) as stack:
        yield stack
        children = descendants(stack.launcher.pid)
    wait_until_all_gone(children)


def _parent(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None
