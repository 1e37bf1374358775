"""Puts the embedded engine together: its index, its children, its two sides."""

from shared.providers.embedded.children.embedder_pool import EmbedderPool
from shared.providers.embedded.children.parser_pool import ParserPool
from shared.providers.embedded.digester import Digester
from shared.providers.embedded.embedding import Embedder
from shared.providers.embedded.index.reader import IndexReader
from shared.providers.embedded.index.writer import IndexWriter
from shared.providers.embedded.ingests import Ingests
from shared.providers.embedded.reads import EmbeddedReads
from shared.providers.embedded.settings import EmbeddedSettings
from shared.providers.embedded.writes import EmbeddedWrites
from shared.providers.ports import FileReader


def open_reads(settings: EmbeddedSettings) -> tuple[EmbeddedReads, EmbedderPool]:
    """The reading side, and the embedder for its questions, which is to be closed after it."""
    embedder = EmbedderPool(size=1)
    return reads_with(settings, embedder), embedder


def open_writes(settings: EmbeddedSettings, files: FileReader) -> EmbeddedWrites:
    """The writing side. The index is made if it is not there; children start with the first file."""
    embedder = EmbedderPool(size=settings.embedders)
    writes = writes_with(settings, files, embedder)
    writes.closes_with(embedder.close)
    return writes


def reads_with(settings: EmbeddedSettings, embedder: Embedder) -> EmbeddedReads:
    """The reading side with a given embedder, which stays its owner's."""
    return EmbeddedReads(IndexReader(settings.index, embedder=embedder.name), embedder)


def writes_with(settings: EmbeddedSettings, files: FileReader, embedder: Embedder) -> EmbeddedWrites:
    """The writing side with a given embedder, which stays its owner's, and with parsers of its own."""
    parsers = ParserPool(size=settings.parsers, limits=settings.limits())
    settings.index.parent.mkdir(parents=True, exist_ok=True)
    writer = IndexWriter(settings.index, embedder=embedder.name, dimensions=embedder.dimensions)
    reader = IndexReader(settings.index, embedder=embedder.name)
    writes = EmbeddedWrites(writer, reader, Ingests(writer, Digester(parsers, embedder), files))
    writes.closes_with(parsers.close)
    return writes
