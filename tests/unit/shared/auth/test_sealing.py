"""Sealed values: opaque, the same each time, and good for one kind, one recipient and nothing else."""

import base64
from pathlib import Path

import pytest

from shared.auth.errors import SealBroken
from shared.auth.sealing import Sealer, SealKind, load_or_create_key

OLD = bytes(range(64))
NEW = bytes(range(64, 128))
PAYLOAD = b"version 7, place 12-40"
TENANT = b"tenant-a"


@pytest.fixture
def sealer() -> Sealer:
    return Sealer([NEW])


def test_what_was_sealed_opens_for_the_same_recipient(sealer: Sealer) -> None:
    sealed = sealer.seal(SealKind.CITATION, PAYLOAD, TENANT)

    assert sealer.open(SealKind.CITATION, sealed, TENANT) == PAYLOAD


def test_a_sealed_value_does_not_change_between_releases() -> None:
    assert Sealer([OLD]).seal(SealKind.CITATION, b"place", b"tenant") == "AXRMd9jL-JVsZFlhIWC9bLsrlo42rgaNRvE"


def test_the_same_payload_gives_the_same_text_and_another_recipient_another(sealer: Sealer) -> None:
    sealed = sealer.seal(SealKind.CITATION, PAYLOAD, TENANT)

    assert sealed == sealer.seal(SealKind.CITATION, PAYLOAD, TENANT)
    assert sealed != sealer.seal(SealKind.CITATION, PAYLOAD, b"tenant-b")
    assert PAYLOAD not in base64.urlsafe_b64decode(sealed + "==")


def test_a_payload_of_126_bytes_fits_a_citation_id(sealer: Sealer) -> None:
    sealed = sealer.seal(SealKind.CITATION, bytes(126), TENANT)

    assert len(sealed) == 196
    assert set(sealed) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def test_another_recipient_cannot_open_it(sealer: Sealer) -> None:
    sealed = sealer.seal(SealKind.CITATION, PAYLOAD, TENANT)

    with pytest.raises(SealBroken):
        sealer.open(SealKind.CITATION, sealed, b"tenant-b")


def test_a_download_is_not_a_citation_even_when_its_kind_is_rewritten(sealer: Sealer) -> None:
    sealed = sealer.seal(SealKind.DOWNLOAD, PAYLOAD, TENANT)
    content = bytearray(base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4)))
    content[0] = SealKind.CITATION
    rewritten = base64.urlsafe_b64encode(content).rstrip(b"=").decode()

    for text in (sealed, rewritten):
        with pytest.raises(SealBroken):
            sealer.open(SealKind.CITATION, text, TENANT)


def test_no_character_can_be_changed(sealer: Sealer) -> None:
    sealed = sealer.seal(SealKind.CITATION, PAYLOAD, TENANT)
    for place, character in enumerate(sealed):
        other = "A" if character != "A" else "B"
        with pytest.raises(SealBroken):
            sealer.open(SealKind.CITATION, sealed[:place] + other + sealed[place + 1 :], TENANT)


@pytest.mark.parametrize("text", ["", "A", "AAAA", "not base64!", "é", "AQ==", "\ud800", "A" * 300])
def test_what_was_never_sealed_does_not_open(sealer: Sealer, text: str) -> None:
    with pytest.raises(SealBroken):
        sealer.open(SealKind.CITATION, text, TENANT)


@pytest.mark.parametrize("change", ["{}=", "{}==", " {}", "{}\n"])
def test_a_value_has_one_spelling(sealer: Sealer, change: str) -> None:
    with pytest.raises(SealBroken):
        sealer.open(SealKind.CITATION, change.format(sealer.seal(SealKind.CITATION, PAYLOAD, TENANT)), TENANT)


def test_an_old_key_still_opens_and_the_newest_one_seals() -> None:
    before = Sealer([OLD]).seal(SealKind.CITATION, PAYLOAD, TENANT)
    rotated = Sealer([NEW, OLD])

    assert rotated.open(SealKind.CITATION, before, TENANT) == PAYLOAD
    assert rotated.seal(SealKind.CITATION, PAYLOAD, TENANT) == Sealer([NEW]).seal(SealKind.CITATION, PAYLOAD, TENANT)
    with pytest.raises(SealBroken):
        Sealer([NEW]).open(SealKind.CITATION, before, TENANT)


@pytest.mark.parametrize("keys", [[], [bytes(32)], [OLD, b""]])
def test_keys_of_another_length_are_refused(keys: list[bytes]) -> None:
    with pytest.raises(ValueError, match="sealing key"):
        Sealer(keys)


def test_a_machine_keeps_its_key(tmp_path: Path) -> None:
    first = load_or_create_key(tmp_path)

    assert len(first) == 64
    assert load_or_create_key(tmp_path) == first
    assert load_or_create_key(tmp_path / "other") != first
