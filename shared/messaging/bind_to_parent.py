"""The short-lived first half of a bound child, run as a script: bind to the parent, change user, become the program.

It is a file of its own, with as few imports as it can have, because every start of a child pays for them.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
OTHER_PARENT_EXIT = 97
KEEP_IDS = -1


def become(parent: int, death_signal: int, uid: int, gid: int, command: list[str]) -> None:
    """Turn this interpreter into `command`; `uid` and `gid` of -1 stay as they are.

    The account changes first, because that change clears the bond to the parent. A SIGINT was held back since before
    the fork: one that only this interpreter had noted would have been lost with it.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if uid != KEEP_IDS:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, death_signal)
    if os.getppid() != parent:  # it died before the bond held
        sys.exit(OTHER_PARENT_EXIT)
    os.execv(command[0], command)  # noqa: S606 - an argument list from our own parent, no shell


if __name__ == "__main__":
    become(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
