"""Checkpoints: signed with one key, verified with its public half, and of nothing that was changed."""

import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from shared.auth.checkpoints import (
    CheckpointSigner,
    CheckpointVerifier,
    Verdict,
    load_or_create_signer,
    load_signer,
)
from shared.auth.development import new_signing_key
from shared.auth.key_files import KeyFileExposed
from shared.auth.verification_keys import KeyUnusable
from shared.contracts.audit_messages import CheckpointSigned

NOW = datetime(2031, 5, 6, 7, 8, 9, 123_456, tzinfo=UTC)
HASH = "a" * 64
SIGNER = CheckpointSigner(new_signing_key())


def signed() -> CheckpointSigned:
    return SIGNER.sign("企业", 7, HASH, NOW)


def test_a_checkpoint_is_genuine_to_whoever_has_the_public_key() -> None:
    read = CheckpointSigned.model_validate_json(signed().to_json())

    assert read == signed()
    assert CheckpointVerifier([SIGNER.public_key]).judge(read) is Verdict.GENUINE


@pytest.mark.parametrize(
    "change",
    [{"chain": "globex"}, {"seq": 8}, {"hash": "b" * 64}, {"at": datetime(2031, 5, 6, tzinfo=UTC)}, {"signature": "A"}],
)
def test_a_checkpoint_of_which_anything_was_changed_is_forged(change: dict[str, object]) -> None:
    changed = signed().model_copy(update=change)

    assert CheckpointVerifier([SIGNER.public_key]).judge(changed) is Verdict.FORGED


def test_a_checkpoint_by_a_key_that_nobody_knows_is_told_from_a_forged_one() -> None:
    other = CheckpointSigner(new_signing_key())

    assert CheckpointVerifier([other.public_key]).judge(signed()) is Verdict.UNKNOWN_KEY
    assert CheckpointVerifier([other.public_key, SIGNER.public_key]).judge(signed()) is Verdict.GENUINE


def test_what_is_signed_can_be_computed_from_the_line_by_anybody() -> None:
    assert signed().signed_bytes().decode() == (
        f'{{"at":"2031-05-06T07:08:09.123456Z","chain":"企业","hash":"{HASH}","keyId":"{signed().key_id}",'
        '"kind":"CheckpointSigned","purpose":"knowgate audit checkpoint","schemaVersion":1,"seq":7}'
    )


def test_a_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "audit.pem"

    first = load_or_create_signer(path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_or_create_signer(path).public_key == load_signer(path).public_key == first.public_key


def test_a_key_that_others_may_read_signs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "audit.pem"
    path.write_bytes(new_signing_key())
    path.chmod(0o640)

    with pytest.raises(KeyFileExposed):
        load_signer(path)


def test_what_is_no_key_is_refused() -> None:
    with pytest.raises(KeyUnusable):
        CheckpointSigner(b"nothing")
    with pytest.raises(KeyUnusable):
        CheckpointVerifier(["nothing"])
