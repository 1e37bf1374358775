"""A signal asks to stop, a second one to stop at once."""

import os
import signal

import pytest

from services.cli.supervision.signals import StopRequests


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_counted_only_inside_the_block(number: signal.Signals) -> None:
    requests, former = StopRequests(), signal.getsignal(number)
    seen = []

    with requests.from_signals():
        for _ in range(3):
            seen.append((requests.is_stopping, requests.is_urgent))
            os.kill(os.getpid(), number)

    assert seen == [(False, False), (True, False), (True, True)]
    assert signal.getsignal(number) == former
