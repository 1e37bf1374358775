"""Earlier logs of a child are kept, a few of them."""

from pathlib import Path

from services.cli.supervision.units import keep_earlier_logs


def test_a_log_moves_back_one_place_with_every_run_and_the_oldest_goes(tmp_path: Path) -> None:
    log = tmp_path / "api.log"
    for run in range(1, 9):
        keep_earlier_logs(log)
        log.write_text(f"run {run}")

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "api.log": "run 8",
        "api.1.log": "run 7",
        "api.2.log": "run 6",
        "api.3.log": "run 5",
        "api.4.log": "run 4",
        "api.5.log": "run 3",
    }
