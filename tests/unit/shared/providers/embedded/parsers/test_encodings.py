from pathlib import Path

import pytest

from shared.contracts.enums import FailureReason
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.parsers.encodings import MAX_CONTENT_BYTES, decode, read_text

CHINESE = "核心数据库的备份副本保存三十五天，每季度做一次恢复演练。"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "gb18030", "gbk", "gb2312"])
def test_chinese_is_read_in_every_usual_encoding(encoding: str) -> None:
    assert decode(CHINESE.encode(encoding)) == CHINESE


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_told_by_its_zeros(encoding: str) -> None:
    assert decode("The backup is kept for 35 days.".encode(encoding)) == "The backup is kept for 35 days."


def test_western_accents_are_not_taken_for_chinese() -> None:
    text = "Le château était fermé, l'hôtel aussi. " * 20

    assert decode(text.encode("cp1252")) == text


def test_utf_8_that_lost_a_byte_keeps_the_rest() -> None:
    assert decode(CHINESE.encode()[:-1]) == CHINESE[:-1] + "\ufffd"


def test_a_file_beyond_any_text_is_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "sparse.txt"
    with path.open("wb") as file:
        file.truncate(MAX_CONTENT_BYTES + 1)

    with pytest.raises(DigestFailed) as failure:
        read_text(path)

    assert failure.value.reason is FailureReason.FILE_TOO_LARGE


@pytest.mark.parametrize("content", [b"MZ\x90\x00\x03\x00\x00\x00\x04", bytes(range(1, 32)) * 40])
def test_a_binary_file_is_not_text(content: bytes) -> None:
    with pytest.raises(DigestFailed) as failure:
        decode(content)

    assert failure.value.reason is FailureReason.FILE_UNSUPPORTED
