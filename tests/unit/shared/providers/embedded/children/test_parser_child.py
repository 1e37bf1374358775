"""What a parser answers, without its process."""

from datetime import timedelta
from pathlib import Path

import pytest

from shared.contracts.content_types import ContentType
from shared.contracts.enums import FailureReason
from shared.providers.embedded.children import parser_child
from shared.providers.embedded.children.messages import PagesRead, Parsed, ParseFailed, ParseRequest
from shared.providers.embedded.limits import DigestLimits

LIMITS = DigestLimits(memory_bytes=1 << 30, time=timedelta(seconds=1), text_characters=1000, chunks=100)


def answer(path: Path, told: list[PagesRead] | None = None) -> Parsed | ParseFailed:
    request = ParseRequest(path=str(path), content_type=ContentType.MARKDOWN)
    return parser_child.parse(request, LIMITS, told.append if told is not None else lambda _: None)


def test_a_file_becomes_chunks_with_the_words_of_their_path(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# Oil\n\nTwo litres.\n")

    parsed = answer(path)

    assert isinstance(parsed, Parsed)
    assert parsed.text == "Oil\nTwo litres.\n"
    assert [(entry.tokens, entry.chunk.path) for entry in parsed.chunks] == [("oil two litre", ("Oil",))]


def test_a_missing_file_is_that(tmp_path: Path) -> None:
    assert answer(tmp_path / "gone.md") == ParseFailed(reason=FailureReason.FILE_MISSING, detail="")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MemoryError(), FailureReason.FILE_TOO_COMPLEX),
        (RecursionError(), FailureReason.FILE_TOO_COMPLEX),
        (ZeroDivisionError("secret words of the file"), FailureReason.PARSER_CRASHED),
    ],
)
def test_whatever_a_parser_raises_is_an_answer_without_the_files_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: FailureReason
) -> None:
    def explode(*_: object) -> None:
        raise error

    monkeypatch.setattr(parser_child, "read_blocks", explode)

    failed = answer(tmp_path)

    assert isinstance(failed, ParseFailed)
    assert failed.reason is reason
    assert "secret" not in failed.detail


def test_progress_tells_each_percent_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_path: Path, _content_type: str, report: object) -> list[object]:
        for page in range(1, 401):
            report(page, 400)  # type: ignore[operator]
        return []

    monkeypatch.setattr(parser_child, "read_blocks", read)
    told: list[PagesRead] = []

    answer(tmp_path, told)

    assert [message.percent for message in told] == list(range(1, 101))
