"""XLSX: each sheet a section, each row a record behind its column names; the page is the sheet."""

import warnings
from collections.abc import Iterator
from datetime import datetime, time
from pathlib import Path
from typing import BinaryIO

from lxml import etree
from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.workbook.workbook import Workbook
from openpyxl.worksheet._read_only import ReadOnlyWorksheet

from shared.contracts.enums import FailureReason
from shared.providers.embedded.blocks import Block, PageReport, heading, record
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.parsers.archive import BROKEN_ARCHIVE, damaged, guard_office_file
from shared.providers.embedded.parsers.tables import labelled_rows

MAX_CELLS = 5_000_000
"""Cells looked at in one workbook, empty ones included."""

_BROKEN = (*BROKEN_ARCHIVE, InvalidFileException, etree.XMLSyntaxError, SyntaxError, KeyError, ValueError, TypeError)


def parse_sheets(path: Path, report: PageReport) -> Iterator[Block]:
    """Read the values of a workbook row by row, never a sheet at once."""
    guard_office_file(path, "xl/workbook.xml")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with path.open("rb") as file:
            workbook = _open(file)
            try:
                yield from _read_sheets(workbook, report)
            except _BROKEN as error:
                raise damaged(error) from error
            finally:
                workbook.close()


def _open(file: BinaryIO) -> Workbook:
    """The library is given the open file, because it judges a path by its suffix and stored objects have none."""
    try:
        return load_workbook(file, read_only=True, data_only=True, keep_links=False)
    except _BROKEN as error:
        raise damaged(error) from error


def _read_sheets(workbook: Workbook, report: PageReport) -> Iterator[Block]:
    sheets = workbook.worksheets
    budget = _CellBudget()
    for number, sheet in enumerate(sheets, 1):
        yield heading(sheet.title, 1, number)
        for line in labelled_rows(_rows(sheet, budget)):
            yield record(line, number)
        report(number, len(sheets))


class _CellBudget:
    """Counts down over all sheets of a workbook."""

    def __init__(self) -> None:
        self._left = MAX_CELLS

    def spend(self, cells: int) -> None:
        self._left -= cells + 1
        if self._left < 0:
            raise DigestFailed(FailureReason.FILE_TOO_COMPLEX, f"more than {MAX_CELLS} cells")


def _rows(sheet: ReadOnlyWorksheet, budget: _CellBudget) -> Iterator[list[str]]:
    sheet.reset_dimensions()  # What a file says of its size is not to be believed.
    for row in sheet.iter_rows(values_only=True):
        budget.spend(len(row))
        yield [_cell_text(value) for value in row]


def _cell_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime) and value.time() == time(0):
        return value.date().isoformat()
    if isinstance(value, float):
        return f"{value:.12g}"  # Without the digits that binary fractions add.
    return str(value).strip()
