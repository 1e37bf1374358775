"""The lexical channel: BM25 over FTS5, behind a gate of coverage.

A chunk is found only when the question's words that stand in it carry at least half of the question's weight (the sum
of inverse document frequencies). Without the gate a chunk that shares one common word would count as much as
the vector channel's best; that was measured to be worse than no lexical channel at all.

Tokens carry their space's id in front, so frequencies and postings are those of the space alone: neither the order of
hits nor the time of a search depends on what other spaces hold.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import apsw

COVERAGE = 0.5
CANDIDATES = 300
MAX_POSTINGS = 30_000
"""A question whose rarest words are this common is left to the vectors: its words tell nothing apart."""

MAX_TERMS = 48
"""Of a pasted page the first words do: no chunk covers half of a page."""

_SATURATION, _LENGTH_SHARE = 1.2, 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalMatch:
    """A chunk that passed the gate, by its key; `score` is its BM25 as a share of the most that could be."""

    chunk: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceWords:
    """What a space knows of the question's words."""

    space: int
    weights: Mapping[str, float]
    postings: Mapping[str, int]
    mean_length: float


def search_lexical(
    db: apsw.Connection, spaces: Sequence[int], terms: Sequence[str], allowed: str, limit: int
) -> list[LexicalMatch]:
    """Find chunks of the allowed documents (a JSON array of keys), best first."""
    matches = [
        match for space in spaces if (words := _read_words(db, space, terms)) for match in _search(db, words, allowed)
    ]
    matches.sort(key=lambda match: (-match.score, match.chunk))
    return matches[:limit]


def _read_words(db: apsw.Connection, space: int, terms: Sequence[str]) -> SpaceWords | None:
    totals = db.execute("SELECT chunks, words FROM space WHERE id = ? AND chunks > 0", (space,)).fetchone()
    if totals is None or not terms:
        return None
    chunks, words = totals
    terms = terms[:MAX_TERMS]
    postings = {
        term: db.execute("SELECT doc FROM word_counts WHERE term = ?", (f"{space}_{term}",)).get or 0 for term in terms
    }
    weights = {term: weight(chunks, postings[term]) for term in terms}
    return SpaceWords(space=space, weights=weights, postings=postings, mean_length=max(1.0, words / chunks))


def weight(chunks: int, postings: int) -> float:
    """The inverse document frequency of a word, never negative."""
    return math.log(1 + (chunks - postings + 0.5) / (postings + 0.5))


def essential_terms(weights: Mapping[str, float], share: float = COVERAGE) -> list[str]:
    """The heaviest words without one of which no chunk can reach the share; the lightest are dropped while it holds."""
    needed = share * sum(weights.values())
    essential = sorted(weights, key=lambda term: -weights[term])
    dropped = 0.0
    while len(essential) > 1 and dropped + weights[essential[-1]] < needed:
        dropped += weights[essential.pop()]
    return essential


def coverage(weights: Mapping[str, float], present: Mapping[str, int]) -> float:
    """The share of the question's weight that the present words carry."""
    total = sum(weights.values())
    return sum(value for term, value in weights.items() if term in present) / total if total else 0.0


def bm25(weights: Mapping[str, float], counts: Mapping[str, int], length: int, mean_length: float) -> float:
    """Okapi BM25 of one chunk as a share of its upper bound, so between 0 and 1."""
    bound = sum(weights.values()) * (_SATURATION + 1)
    norm = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length / mean_length)
    found = ((value, counts[term]) for term, value in weights.items() if term in counts)
    score = sum(value * count * (_SATURATION + 1) / (count + norm) for value, count in found)
    return score / bound if bound else 0.0


def _search(db: apsw.Connection, words: SpaceWords, allowed: str) -> list[LexicalMatch]:
    essential = [term for term in essential_terms(words.weights) if words.postings[term]]
    if not essential or sum(words.postings[term] for term in essential) > MAX_POSTINGS:
        return []
    # FTS5 leads the join: driven from the other side it would look up one row at a time.
    rows = db.execute(
        "SELECT c.id, words.tokens FROM words CROSS JOIN chunk c ON c.id = words.rowid "
        "WHERE words MATCH ? AND c.document IN (SELECT value FROM json_each(?)) ORDER BY words.rank LIMIT ?",
        (" OR ".join(f'"{words.space}_{term}"' for term in essential), allowed, CANDIDATES),
    )
    return [match for chunk, tokens in rows if (match := _gate(words, chunk, tokens))]


def _gate(words: SpaceWords, chunk: int, tokens: str) -> LexicalMatch | None:
    stored = tokens.split()
    counts = {term: count for term in words.weights if (count := stored.count(f"{words.space}_{term}"))}
    if coverage(words.weights, counts) < COVERAGE:
        return None
    return LexicalMatch(chunk=chunk, score=bm25(words.weights, counts, len(stored), words.mean_length))
