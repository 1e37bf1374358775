"""The scan against the plain definition of it, on tables in memory."""

import apsw
import orjson
from hypothesis import given
from hypothesis import strategies as st

from shared.providers.embedded.index.vectors import search_vectors

vectors = st.lists(st.integers(-127, 127), min_size=4, max_size=4)
documents = st.dictionaries(st.integers(1, 40), st.lists(vectors, max_size=6), max_size=8)


def packed(components: list[int]) -> bytes:
    return bytes(component % 256 for component in components)


def table(content: dict[int, list[list[int]]]) -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE vectors(document INTEGER PRIMARY KEY, space INTEGER, embeddings BLOB)")
    rows = ((document, document % 2, b"".join(map(packed, rows))) for document, rows in content.items())
    connection.executemany("INSERT INTO vectors VALUES(?, ?, ?)", rows)
    return connection


@given(documents, vectors, st.sets(st.integers(1, 40)), st.integers(1, 12))
def test_the_best_of_the_allowed_documents_come_first(
    content: dict[int, list[list[int]]], question: list[int], allowed: set[int], limit: int
) -> None:
    expected = sorted(
        (
            (-sum(a * b for a, b in zip(row, question, strict=True)), document, ordinal)
            for document, rows in content.items()
            if document in allowed and document % 2 == 1
            for ordinal, row in enumerate(rows)
        ),
    )[:limit]

    keys = orjson.dumps(sorted(allowed)).decode()
    found = search_vectors(table(content), [1], packed(question), keys, limit)

    assert [round(match.cosine * 1_000_000) for match in found] == [-score for score, _, _ in expected]
    for match in found:
        row = content[match.document][match.ordinal]
        assert round(match.cosine * 1_000_000) == sum(a * b for a, b in zip(row, question, strict=True))


def test_a_document_of_many_chunks_is_cut_into_blocks() -> None:
    many = [[number % 100, 0, 0, 0] for number in range(1300)]

    found = search_vectors(table({3: many, 5: [[127, 0, 0, 0]]}), [1], packed([100, 0, 0, 0]), "[3, 5]", 3)

    assert [(match.document, match.ordinal) for match in found] == [(5, 0), (3, 99), (3, 199)]
