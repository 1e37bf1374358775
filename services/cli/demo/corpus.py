"""The documents and the questions that the demo works with."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, TypeAdapter

from services.cli.complaints import Complaint

USUAL_DIRECTORY = Path(__file__).parents[3] / "tests" / "corpus"


class Question(BaseModel):
    """A question, and the passages that answer it, each as `<document>#<section>`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    qid: str
    question: str
    lang: str
    kind: str
    relevant: tuple[str, ...]

    @property
    def documents(self) -> frozenset[str]:
        """The documents that answer it, by the names of their files without ending."""
        return frozenset(passage.partition("#")[0] for passage in self.relevant)


class Listed(BaseModel):
    """A document of the corpus; its key is the document's name."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    file: str


_LISTING: Final[TypeAdapter[dict[str, Listed]]] = TypeAdapter(dict[str, Listed])


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Files to ingest and questions to ask about them."""

    files: Sequence[Path]
    questions: Sequence[Question]

    @property
    def formats(self) -> frozenset[str]:
        """The kinds of files, by their endings."""
        return frozenset(file.suffix.lower() for file in self.files)


def load_corpus(directory: Path) -> Corpus:
    """The documents that `expected.json` lists, in `files/`, and the questions of `questions.jsonl`.

    Other files there hold the text of one of these documents in another form; they would only compete with it.
    """
    try:
        listed = _LISTING.validate_json((directory / "expected.json").read_bytes())
        files = [directory / "files" / entry.file for entry in listed.values()]
        lines = (directory / "questions.jsonl").read_text(encoding="utf-8").splitlines()
        questions = [Question.model_validate_json(line) for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        raise Complaint(
            f"{directory} holds no corpus: {error}",
            "The demo needs `files/`, `expected.json` and `questions.jsonl`; the source tree has them in tests/corpus.",
        ) from error
    return Corpus(files=sorted(files), questions=questions)
