"""CSV and TSV: one record a row, each cell behind its column's name."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from shared.contracts.enums import FailureReason
from shared.providers.embedded.blocks import Block, PageReport, record
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.parsers.encodings import read_text
from shared.providers.embedded.parsers.tables import labelled_rows

_DELIMITERS = ",;\t|"
_SAMPLE_CHARACTERS = 8192
_MAX_FIELD_CHARACTERS = 1 << 20


def parse_delimited(path: Path, report: PageReport) -> Iterator[Block]:
    """Read a table of delimited text; the delimiter is the one that splits the first lines most evenly."""
    del report
    text = read_text(path)
    csv.field_size_limit(_MAX_FIELD_CHARACTERS)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text[:_SAMPLE_CHARACTERS]))
    try:
        for line in labelled_rows([cell.strip() for cell in row] for row in rows):
            yield record(line)
    except csv.Error as error:
        raise DigestFailed(FailureReason.FILE_CORRUPT, "not delimited text") from error


def _delimiter(sample: str) -> str:
    """The one that is found most often in the first line; a comma when there is none."""
    first = sample.lstrip("\r\n").partition("\n")[0]
    return max(_DELIMITERS, key=first.count)
