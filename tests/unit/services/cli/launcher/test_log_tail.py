"""Of what children log, people see the warnings and errors, each once and in short."""

from pathlib import Path

from services.cli.launcher.log_tail import LogTail, last_words

WARNING = (
    '{"event":"worker.step.failed","level":"warning","service":"worker","timestamp":"t","step":"ingest","attempt":2}\n'
)
INFO = '{"event":"worker.started","level":"info"}\n'


def seen(tail: LogTail) -> list[str]:
    return [line.short() for line in tail.loud_lines()]


def test_only_warnings_and_errors_are_seen_and_each_once(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    tail = LogTail(log)
    assert seen(tail) == []

    log.write_text(INFO + WARNING + "a line that is no event\n")
    assert seen(tail) == ["warning worker.step.failed step=ingest attempt=2"]
    assert seen(tail) == []


def test_half_a_line_waits_for_its_other_half(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    tail = LogTail(log)
    log.write_text(WARNING[:40])
    assert seen(tail) == []

    with log.open("a") as file:
        file.write(WARNING[40:])

    assert len(seen(tail)) == 1


def test_the_log_of_a_new_run_is_read_from_its_beginning(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    tail = LogTail(log)
    log.write_text(INFO * 3 + WARNING)
    assert len(seen(tail)) == 1

    log.replace(tmp_path / "worker.1.log")
    log.write_text(WARNING)

    assert len(seen(tail)) == 1


def test_the_last_words_are_the_end_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    log.write_text("".join(f"line {number}\n" for number in range(100)))

    assert last_words(log, 2) == "line 98\nline 99"
    assert last_words(tmp_path / "none.log") == ""
