"""The file of checkpoints: lines are added whole, and what a crash has torn is passed over and removed."""

from datetime import UTC, datetime
from pathlib import Path

from shared.auth.checkpoint_file import CheckpointFile, Unreadable
from shared.auth.checkpoints import CheckpointSigner
from shared.auth.development import new_signing_key
from shared.contracts.audit_messages import CheckpointSigned

NOW = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
SIGNER = CheckpointSigner(new_signing_key())


def checkpoint(seq: int) -> CheckpointSigned:
    return SIGNER.sign("acme", seq, "a" * 64, NOW)


def lines(file: CheckpointFile) -> list[tuple[int, CheckpointSigned | Unreadable]]:
    return list(file.read())


def test_lines_are_added_in_order_one_object_each(tmp_path: Path) -> None:
    file = CheckpointFile(tmp_path / "checkpoints.jsonl")

    file.append([checkpoint(1), checkpoint(2)])
    file.append([checkpoint(3)])

    assert lines(file) == [(1, checkpoint(1)), (2, checkpoint(2)), (3, checkpoint(3))]
    assert file.path.read_text().count("\n") == 3


def test_a_torn_last_line_is_told_and_gone_with_the_next_one(tmp_path: Path) -> None:
    file = CheckpointFile(tmp_path / "checkpoints.jsonl")
    file.append([checkpoint(1)])
    whole = file.path.read_bytes()
    file.path.write_bytes(whole + checkpoint(2).to_json()[:40])

    assert lines(file) == [(1, checkpoint(1)), (2, Unreadable(2, is_torn=True))]

    file.append([checkpoint(3)])
    assert lines(file) == [(1, checkpoint(1)), (2, checkpoint(3))]


def test_a_file_that_holds_nothing_but_a_torn_line_longer_than_a_block_begins_anew(tmp_path: Path) -> None:
    file = CheckpointFile(tmp_path / "checkpoints.jsonl")
    file.path.write_bytes(b"x" * 10_000)

    file.append([checkpoint(1)])

    assert lines(file) == [(1, checkpoint(1))]


def test_a_line_that_is_no_checkpoint_is_told(tmp_path: Path) -> None:
    file = CheckpointFile(tmp_path / "checkpoints.jsonl")
    file.path.write_bytes(b"{}\n" + checkpoint(1).to_json() + b"\n")

    assert lines(file) == [(1, Unreadable(1, is_torn=False)), (2, checkpoint(1))]
