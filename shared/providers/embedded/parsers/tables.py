"""Rows of any table as text: each cell behind its column's name when the first row is a header."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

_MAX_HEADER_CELL = 60


def is_header(row: Sequence[str]) -> bool:
    """Whether a first row names the columns: short, distinct, wordy and without gaps between."""
    cells = [cell for cell in row if cell]
    return (
        len(cells) >= 2
        and len(set(cells)) == len(cells)
        and all(len(cell) <= _MAX_HEADER_CELL and any(map(str.isalpha, cell)) for cell in cells)
    )


def labelled_rows(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Each row as ``name: cell; name: cell``; without a header the cells alone. Empty rows and cells are left out."""
    filled = (row for row in rows if any(row))
    first = next(filled, ())
    second = next(filled, ())
    header = first if second and is_header(first) else ()
    for row in chain(() if header else (first,), (second,), filled):
        if any(row):
            yield "; ".join(_label(header, column, cell) for column, cell in enumerate(row) if cell)


def _label(header: Sequence[str], column: int, cell: str) -> str:
    name = header[column] if column < len(header) else ""
    return f"{name}: {cell}" if name else cell


def joined_row(cells: Iterable[str]) -> str:
    """A row of a small table inside a document, its cells side by side."""
    return " | ".join(" ".join(cell.split()) for cell in cells)
