"""Bad documents and bad messages end with a reason, and the good ones that come after them do not notice."""

from datetime import timedelta

from shared.contracts.commands import ProviderKind
from tests.poison.run import Result, run
from tests.poison.scene import Trial


def test_bad_ones_end_and_good_ones_succeed() -> None:
    told: list[str] = []
    trial = Trial(good=10, provider=ProviderKind.SCRIPTED, workers=4, ack_wait=timedelta(seconds=2))
    result = run(trial, told.append)
    assert result == Result(bad=5, bad_ended=5, good=50, good_succeeded=50, blamed=0), told
    assert result.is_clean
