"""The engine on real files: what it reads, what it refuses, and whether questions find their answers."""

import asyncio
import zipfile
from pathlib import Path

import pytest

from shared.contracts.content_types import ContentType
from shared.contracts.enums import FailureReason
from shared.providers.embedded.children.embedder_pool import EmbedderPool
from shared.providers.embedded.digester import Digester
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.index.rows import Hit
from shared.providers.ports import Passage, Place, Ranking
from shared.retrieval.fusion import fuse
from tests.integration.engine.conftest import IndexedCorpus
from tests.integration.engine.corpus import (
    BAD_FILES,
    CONTENT_TYPES,
    ExpectedSection,
    corpus_files,
    document_of,
    expected_sections,
    questions,
)

HITS = 8

REFUSED = {
    "binary.txt": FailureReason.FILE_UNSUPPORTED,
    "empty.docx": FailureReason.FILE_EMPTY,
    "empty.pdf": FailureReason.FILE_EMPTY,
    "empty.txt": FailureReason.FILE_EMPTY,
    "encrypted-user.pdf": FailureReason.FILE_ENCRYPTED,
    "entity-bomb.docx": FailureReason.FILE_TOO_LARGE,
    "garbage.pdf": FailureReason.FILE_CORRUPT,
    "not-a-docx.docx": FailureReason.FILE_UNSUPPORTED,
    "scanned.pdf": FailureReason.FILE_SCANNED,
    "truncated.pdf": FailureReason.FILE_CORRUPT,
}
PROMPT = 10
"""Seconds in which a bad file must be refused, the start of a parser included."""


def squeeze(text: str) -> str:
    return "".join(text.split())


def expected_path(file: Path, section: ExpectedSection) -> tuple[str, ...]:
    """The chapter path as far as the format has one."""
    title, chapter, name = section.path
    match file.suffix:
        case ".pptx":
            return title, f"{chapter} - {name}"
        case ".xlsx":
            return (chapter,)
        case ".csv":
            return ()
        case _:
            return section.path


@pytest.mark.parametrize("file", corpus_files(), ids=lambda file: file.name)
async def test_every_section_is_whole_in_one_chunk_with_its_page_and_path(file: Path, corpus: IndexedCorpus) -> None:
    digest = corpus.digests[file.name]
    # A twin in another form has the same sections on pages of its own.
    has_pages = document_of(file) == file.stem

    for section in expected_sections()[document_of(file)]:
        holding = [
            entry.chunk
            for entry in digest.chunks
            if squeeze(section.text) in squeeze(digest.text[entry.chunk.start : entry.chunk.end])
        ]
        assert [chunk.path for chunk in holding] == [expected_path(file, section)], section.section
        if has_pages:
            assert (holding[0].page_start, holding[0].page_end) == (section.page, section.page), section.section


async def test_every_place_reads_back_as_it_was_cut(corpus: IndexedCorpus) -> None:
    for name, digest in corpus.digests.items():
        for entry in digest.chunks:
            chunk = entry.chunk
            excerpt = corpus.reader.read_excerpt(corpus.native_ids[name], chunk.start, chunk.end, before=30, after=30)
            assert excerpt.matched == digest.text[chunk.start : chunk.end]
            assert excerpt.before == digest.text[max(0, chunk.start - 30) : chunk.start]
            assert excerpt.after == digest.text[chunk.end : chunk.end + 30]
            assert (excerpt.path, excerpt.page_start, excerpt.page_end) == (
                chunk.path,
                chunk.page_start,
                chunk.page_end,
            )


async def test_questions_find_the_right_document(corpus: IndexedCorpus, embedder: EmbedderPool) -> None:
    documents = {native_id: document_of(Path(name)) for name, native_id in corpus.native_ids.items()}
    asked = questions()
    vectors = await embedder.embed([item.question for item in asked])
    found = first = 0

    for item, vector in zip(asked, vectors, strict=True):
        lists = corpus.reader.search([corpus.space], item.question, vector, documents, limit=50)
        fused = fuse([ranking("lexical", lists.lexical), ranking("vector", lists.vector)])
        hits = [documents[hit.passage.native_document_id] for hit in fused[:HITS]]
        found += bool(item.documents & set(hits))
        first += hits[0] in item.documents

    assert len(asked) == 52
    assert found / len(asked) >= 0.98
    assert first / len(asked) >= 0.85


def ranking(channel: str, hits: tuple[Hit, ...]) -> Ranking:
    passages = (
        Passage(
            native_document_id=hit.document, place=Place(start=hit.start, end=hit.end), text=hit.text, score=hit.score
        )
        for hit in hits
    )
    return Ranking(channel=channel, passages=tuple(passages))


async def test_a_code_is_found_by_its_letters(corpus: IndexedCorpus, embedder: EmbedderPool) -> None:
    question = "F-217"
    (vector,) = await embedder.embed([question])

    found = corpus.reader.search([corpus.space], question, vector, corpus.native_ids.values(), limit=5)

    assert [hit.document for hit in found.lexical] == [corpus.native_ids["turbine-en.pdf"]]
    assert "F-217" in " ".join((*found.lexical[0].path, found.lexical[0].text))


async def test_only_allowed_documents_are_found(corpus: IndexedCorpus, embedder: EmbedderPool) -> None:
    question = "病假工资怎么发"
    (vector,) = await embedder.embed([question])
    allowed = {corpus.native_ids["hr-zh.docx"], corpus.native_ids["dc-zh.pdf"]}

    some = corpus.reader.search([corpus.space], question, vector, allowed, limit=50)
    none = corpus.reader.search([corpus.space], question, vector, [], limit=50)

    assert {hit.document for hit in some.vector} == allowed
    assert {hit.document for hit in some.lexical} <= allowed
    assert (none.lexical, none.vector) == ((), ())


@pytest.mark.parametrize(("name", "reason"), REFUSED.items())
async def test_a_bad_file_is_refused_promptly_with_its_reason(
    name: str, reason: FailureReason, digester: Digester
) -> None:
    file = BAD_FILES / name

    with pytest.raises(DigestFailed) as failure:
        async with asyncio.timeout(PROMPT):
            await digester.digest(file, CONTENT_TYPES[file.suffix], on_progress=lambda percent: None)

    assert failure.value.reason is reason


async def test_a_pdf_that_only_its_owner_may_change_is_read(digester: Digester) -> None:
    file = BAD_FILES / "encrypted-owner-only.pdf"

    digest = await digester.digest(file, ContentType.PDF, on_progress=lambda percent: None)

    assert "LX-200 型离心泵维护手册" in digest.text


def test_every_bad_file_has_its_test() -> None:
    assert {path.name for path in BAD_FILES.iterdir()} == {*REFUSED, "encrypted-owner-only.pdf"}


async def test_a_zip_bomb_is_refused_before_it_expands(digester: Digester, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.docx"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("word/document.xml", "w") as part:
        for _ in range(64):
            part.write(bytes(1 << 20))

    with pytest.raises(DigestFailed) as failure:
        async with asyncio.timeout(PROMPT):
            await digester.digest(bomb, ContentType.DOCX, on_progress=lambda percent: None)

    assert failure.value.reason is FailureReason.FILE_TOO_LARGE


async def test_progress_grows_to_its_end(digester: Digester) -> None:
    told: list[int] = []

    await digester.digest(corpus_files()[3], ContentType.PDF, on_progress=told.append)

    assert told == sorted(told)
    assert told[-1] == 100
