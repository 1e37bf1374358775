"""A child program that ends when this one ends, however this one ends.

Owns the start, the watch and the stop of one such child. What the child is and when it is ready is its owner's matter.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from shared.messaging import bind_to_parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The user that a child runs as. Changing to another one needs root."""

    uid: int
    gid: int


class BoundChild:
    """One running child, started by the constructor in a session of its own, so that Ctrl-C reaches only its owner.

    On Linux the kernel sends `death_signal` to the child when its parent dies. It does so when the *thread* that
    forked ends, so each child gets a thread that forks it and then waits for it; the thread also reaps it.
    On other systems a killed parent leaves its children running; a clean stop ends them everywhere.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        output: Path | None = None,
        death_signal: signal.Signals = signal.SIGTERM,
        account: Account | None = None,
        keep_open: Sequence[int] = (),
        directory: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start `command`, whose first item is the program's absolute path.

        What it prints replaces the file `output`, or goes where ours goes. The descriptors in `keep_open` stay open
        in it. `environment` takes the place of ours.
        """
        self._exited = threading.Event()
        self._forked = threading.Event()
        self._popen: subprocess.Popen[bytes] | None = None
        self._failure: OSError | None = None
        fork = partial(
            subprocess.Popen,
            _launch(command, death_signal, account),
            stdin=subprocess.DEVNULL,
            pass_fds=tuple(keep_open),
            cwd=directory,
            env=environment,
            start_new_session=True,
        )
        name = f"child {Path(command[0]).name}"
        threading.Thread(target=self._fork_and_wait, args=(fork, output), name=name, daemon=True).start()
        self._forked.wait()
        if self._failure is not None:
            raise self._failure

    @property
    def pid(self) -> int:
        """Its number, the same before and after it becomes the program."""
        return self._started().pid

    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return not self._exited.is_set()

    @property
    def exit_code(self) -> int | None:
        """Its exit code, or minus the signal that ended it, or None while it runs."""
        return self._started().returncode if self._exited.is_set() else None

    def wait(self, within: timedelta | None = None) -> bool:
        """Wait for its end; False if `within` passed first."""
        return self._exited.wait(None if within is None else within.total_seconds())

    def stop(self, *, within: timedelta, by: signal.Signals = signal.SIGTERM) -> None:
        """Ask it to end by the signal `by`, and kill it when `within` has passed."""
        self._send(by)
        if not self.wait(within):
            self.kill()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self._send(signal.SIGKILL)
        self.wait()

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._popen is None:
            raise RuntimeError("the child was never started")
        return self._popen

    def _send(self, number: signal.Signals) -> None:
        if self.is_running():
            self._started().send_signal(number)

    def _fork_and_wait(self, fork: "Callable[..., subprocess.Popen[bytes]]", output: Path | None) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the child takes it over, and lets it through later
        try:
            with nullcontext() if output is None else output.open("wb") as log:
                self._popen = fork(stdout=log, stderr=log)
        except OSError as error:
            self._failure = error
            self._exited.set()
            return
        finally:
            self._forked.set()
        self._popen.wait()
        self._exited.set()


def _launch(command: Sequence[str], death_signal: signal.Signals, account: Account | None) -> list[str]:
    uid, gid = (bind_to_parent.KEEP_IDS,) * 2 if account is None else (account.uid, account.gid)
    numbers = (os.getpid(), int(death_signal), uid, gid)
    return [sys.executable, "-I", "-S", bind_to_parent.__file__, *map(str, numbers), *command]
