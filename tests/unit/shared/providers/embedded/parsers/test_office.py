"""Word, PowerPoint and Excel files, made here with the libraries that read them."""

import zipfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import docx
import openpyxl
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from pptx import Presentation
from pptx.util import Inches

from shared.contracts.enums import FailureReason
from shared.providers.embedded.blocks import Block, heading, paragraph, record
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.parsers import sheets
from shared.providers.embedded.parsers.sheets import parse_sheets
from shared.providers.embedded.parsers.slides import parse_slides
from shared.providers.embedded.parsers.word import parse_word


def ignore(done: int, total: int) -> None:
    del done, total


def read_word(path: Path, body: str = "") -> list[Block]:
    document = docx.Document()
    document.add_heading("Guide", 0)
    document.add_heading("First week", 1)
    document.add_paragraph("Bring the pick-up code.")
    if body:
        document.element.body.insert(len(document.element.body) - 1, parse_xml(body))
    document.save(str(path))
    return list(parse_word(path, ignore))


HEAD = [heading("Guide", 1), heading("First week", 2), paragraph("Bring the pick-up code.")]


def test_word_headings_stand_below_the_title(tmp_path: Path) -> None:
    assert read_word(tmp_path / "a.docx") == HEAD


def test_word_keeps_tracked_insertions_and_drops_deletions(tmp_path: Path) -> None:
    body = (
        f"<w:p {nsdecls('w')}><w:r><w:t>four </w:t></w:r><w:del><w:r><w:delText>five</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>working days</w:t></w:r></w:ins></w:p>"
    )

    assert read_word(tmp_path / "a.docx", body) == [*HEAD, paragraph("four working days")]


def test_word_reads_content_controls_but_not_the_table_of_contents(tmp_path: Path) -> None:
    control = "<w:sdtContent><w:p><w:r><w:t>inside</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    contents = '<w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj>'

    assert read_word(tmp_path / "a.docx", f"<w:sdt {nsdecls('w')}>{control}") == [*HEAD, paragraph("inside")]
    assert read_word(tmp_path / "b.docx", f"<w:sdt {nsdecls('w')}><w:sdtPr>{contents}</w:sdtPr>{control}") == HEAD


def test_word_takes_the_outline_level_of_a_paragraph(tmp_path: Path) -> None:
    body = f'<w:p {nsdecls("w")}><w:pPr><w:outlineLvl w:val="1"/></w:pPr><w:r><w:t>Accounts</w:t></w:r></w:p>'

    assert read_word(tmp_path / "a.docx", body) == [*HEAD, heading("Accounts", 3)]


def test_word_reads_a_text_box_once(tmp_path: Path) -> None:
    mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    box = "<w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>"
    choice = f"<mc:Choice Requires='wps'>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
    body = f"<w:p {nsdecls('w')} {mc}><w:r><mc:AlternateContent>{choice}</mc:AlternateContent></w:r></w:p>"

    assert read_word(tmp_path / "a.docx", body) == [*HEAD, paragraph("boxed")]


def test_word_tables_give_rows_and_nested_ones_their_own(tmp_path: Path) -> None:
    document = docx.Document()
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Owner", "质量部 QA"
    document.save(str(tmp_path / "a.docx"))

    assert list(parse_word(tmp_path / "a.docx", ignore)) == [record("Owner | 质量部 QA")]


def test_a_word_file_with_a_damaged_part_is_corrupt(tmp_path: Path) -> None:
    read_word(tmp_path / "a.docx")
    with zipfile.ZipFile(tmp_path / "a.docx") as whole, zipfile.ZipFile(tmp_path / "b.docx", "w") as broken:
        for name in whole.namelist():
            broken.writestr(name, b"<w:document" if name == "word/document.xml" else whole.read(name))

    with pytest.raises(DigestFailed) as failure:
        list(parse_word(tmp_path / "b.docx", ignore))

    assert failure.value.reason is FailureReason.FILE_CORRUPT


def test_slides_are_sections_on_their_own_page_with_groups_tables_and_notes(tmp_path: Path) -> None:
    deck = Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text = "Safety"
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Eyes"
    slide.placeholders[1].text = "Wear goggles."
    inner = slide.shapes.add_group_shape().shapes.add_textbox(0, 0, Inches(1), Inches(1))
    inner.text_frame.text = "grouped"
    table = slide.shapes.add_table(1, 2, 0, 0, Inches(2), Inches(1)).table
    table.cell(0, 0).text, table.cell(0, 1).text = "Rinse", "15 min"
    slide.notes_slide.notes_text_frame.text = "spoken"
    deck.save(str(tmp_path / "a.pptx"))
    pages: list[tuple[int, int]] = []

    blocks = list(parse_slides(tmp_path / "a.pptx", lambda done, total: pages.append((done, total))))

    assert blocks == [
        heading("Safety", 1, 1),
        heading("Eyes", 2, 2),
        paragraph("Wear goggles.", 2),
        paragraph("grouped", 2),
        record("Rinse | 15 min", 2),
        paragraph("spoken", 2),
    ]
    assert pages == [(1, 2), (2, 2)]


def workbook(path: Path, *rows: Sequence[object]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.active.title = "Costs"
    book.save(path)
    return path


def test_rows_of_a_sheet_are_records_with_plain_numbers_and_dates(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "a.xlsx", ["Item", "Cost", "Day"], ["pump", 0.1 + 0.2, date(2026, 9, 7)], [], ["oil", 12, None]
    )

    assert list(parse_sheets(path, ignore)) == [
        heading("Costs", 1, 1),
        record("Item: pump; Cost: 0.3; Day: 2026-09-07", 1),
        record("Item: oil; Cost: 12", 1),
    ]


def test_a_sheet_with_too_many_cells_is_too_complex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets, "MAX_CELLS", 20)
    path = workbook(tmp_path / "a.xlsx", *([str(number), "x"] for number in range(20)))

    with pytest.raises(DigestFailed) as failure:
        list(parse_sheets(path, ignore))

    assert failure.value.reason is FailureReason.FILE_TOO_COMPLEX


def test_a_size_that_a_sheet_only_claims_costs_nothing(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", ["name"])
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "b.xlsx", "w") as claiming:
        for name in whole.namelist():
            claiming.writestr(name, whole.read(name).replace(b'ref="A1"', b'ref="A1:XFD1048576"'))

    assert list(parse_sheets(tmp_path / "b.xlsx", ignore)) == [heading("Costs", 1, 1), record("name", 1)]
