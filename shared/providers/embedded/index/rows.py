"""What the index tells of its documents and finds in them."""

from dataclasses import dataclass

from shared.contracts.enums import FailureReason
from shared.providers.ports import IngestState


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedDocument:
    """A document's row. It is IDLE until its content is written, then DONE, or FAILED for a reason, or CANCELLED."""

    native_id: str
    space: str
    name: str
    state: IngestState
    failure: FailureReason | None
    object_key: str
    sha256: str
    content_type: str
    characters: int
    chunks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A found chunk: ``[start, end)`` in the document's text. `score` lies in 0-1 and compares within one list only."""

    document: str
    start: int
    end: int
    text: str
    path: tuple[str, ...]
    page_start: int | None
    page_end: int | None
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The two ranked lists of one search, each best first.

    `lexical` holds only chunks whose words carry at least half of the question's weight, scored by BM25 as a share of
    the most that could be; `vector` is scored by cosine similarity.
    """

    lexical: tuple[Hit, ...]
    vector: tuple[Hit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A place read back with its surroundings."""

    before: str
    matched: str
    after: str
    path: tuple[str, ...]
    page_start: int | None
    page_end: int | None
