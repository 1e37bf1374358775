"""The corpus is listed documents and questions, and a directory without them is told."""

from pathlib import Path

import pytest

from services.cli.complaints import Complaint
from services.cli.demo.corpus import load_corpus

LINE = '{"qid": "q1", "question": "病假工资怎么发", "lang": "zh", "kind": "keyword", "relevant": ["hr-zh#1.3 病假"]}\n'


LISTING = '{"sec-zh": {"file": "sec-zh.pdf", "sections": []}, "hr-zh": {"file": "hr-zh.docx"}}'


def test_the_listed_files_and_the_questions_are_the_corpus(tmp_path: Path) -> None:
    (tmp_path / "expected.json").write_text(LISTING)
    (tmp_path / "questions.jsonl").write_text(LINE, encoding="utf-8")

    corpus = load_corpus(tmp_path)

    assert corpus.files == [tmp_path / "files" / "hr-zh.docx", tmp_path / "files" / "sec-zh.pdf"]
    assert corpus.formats == {".docx", ".pdf"}
    assert corpus.questions[0].documents == {"hr-zh"}


@pytest.mark.parametrize(
    ("listing", "questions"),
    [(None, LINE), (LISTING, None), ("[]", LINE), (LISTING, "not json\n"), (LISTING, '{"qid": "q1"}\n')],
)
def test_a_directory_without_a_corpus_is_told(tmp_path: Path, listing: str | None, questions: str | None) -> None:
    if listing is not None:
        (tmp_path / "expected.json").write_text(listing)
    if questions is not None:
        (tmp_path / "questions.jsonl").write_text(questions)

    with pytest.raises(Complaint, match="holds no corpus"):
        load_corpus(tmp_path)
