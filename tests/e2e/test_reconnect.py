"""The broker is restarted again and again under a gateway that works: nothing is lost, and nothing stands still."""

from tests.reconnect.run import Result, Trial, run


def test_twenty_restarts_of_the_broker_lose_nothing() -> None:
    told: list[str] = []
    result = run(Trial(restarts=20, seed=20), told.append)
    assert result == Result(wanted=20, restarts=20, operations=result.operations, lost=0, stalled=0), told
    assert result.is_clean
