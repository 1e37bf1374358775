"""The corpus as the engine's tests see it: files with their content types, expected sections, questions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from shared.contracts.content_types import ContentType

CORPUS = Path(__file__).parents[2] / "corpus"
FILES = CORPUS / "files"
BAD_FILES = FILES / "bad"

CONTENT_TYPES = {
    ".pdf": ContentType.PDF,
    ".docx": ContentType.DOCX,
    ".pptx": ContentType.PPTX,
    ".xlsx": ContentType.XLSX,
    ".html": ContentType.HTML,
    ".md": ContentType.MARKDOWN,
    ".txt": ContentType.TEXT,
    ".csv": ContentType.CSV,
    ".eml": ContentType.EMAIL,
}

TWINS = {
    "pump-zh-nooutline.pdf": "pump-zh",
    "pump-zh-cidfont.pdf": "pump-zh",
    "sec-zh-gb18030.txt": "sec-zh",
    "sec-zh-utf16.csv": "sec-zh",
    "travel-zh-gbk.eml": "travel-zh",
}
"""Files that hold a document of the corpus in another form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedSection:
    """A section of a document: `page` is None where the format has none."""

    section: str
    path: tuple[str, ...]
    page: int | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question and the documents that answer it."""

    qid: str
    question: str
    documents: frozenset[str]


def corpus_files() -> list[Path]:
    """Every file that can be read."""
    return sorted(path for path in FILES.iterdir() if path.is_file())


@cache
def expected_sections() -> Mapping[str, Sequence[ExpectedSection]]:
    """The sections of each document."""
    documents = json.loads((CORPUS / "expected.json").read_text(encoding="utf-8"))
    return {
        name: [ExpectedSection(**{**section, "path": tuple(section["path"])}) for section in document["sections"]]
        for name, document in documents.items()
    }


def document_of(path: Path) -> str:
    """The document that a file holds."""
    return TWINS.get(path.name, path.stem)


def questions() -> list[AskedQuestion]:
    """The open questions on the corpus."""
    lines = (CORPUS / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        AskedQuestion(
            qid=row["qid"],
            question=row["question"],
            documents=frozenset(passage.partition("#")[0] for passage in row["relevant"]),
        )
        for row in map(json.loads, lines)
    ]
