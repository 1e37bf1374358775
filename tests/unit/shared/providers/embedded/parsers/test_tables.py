from pathlib import Path

from shared.providers.embedded.blocks import record
from shared.providers.embedded.parsers.delimited import parse_delimited
from shared.providers.embedded.parsers.tables import joined_row, labelled_rows


def test_cells_stand_behind_the_names_of_their_columns() -> None:
    rows = [["Code", "Meaning"], ["", ""], ["E-1", "no water"], ["E-2", ""]]

    assert list(labelled_rows(rows)) == ["Code: E-1; Meaning: no water", "Code: E-2"]


def test_a_first_row_of_values_is_no_header() -> None:
    assert list(labelled_rows([["1", "2"], ["3", "4"]])) == ["1; 2", "3; 4"]
    assert list(labelled_rows([["same", "same"], ["a", "b"]])) == ["same; same", "a; b"]


def test_a_single_row_is_kept_whatever_it_looks_like() -> None:
    assert list(labelled_rows([["Code", "Meaning"]])) == ["Code; Meaning"]
    assert list(labelled_rows([])) == []


def test_cells_beyond_the_header_have_no_name() -> None:
    assert list(labelled_rows([["a", "b"], ["1", "2", "3"]])) == ["a: 1; b: 2; 3"]


def test_a_row_inside_a_document_is_one_line() -> None:
    assert joined_row(["Key", "two\nlines"]) == "Key | two lines"


def test_the_delimiter_is_found_and_quotes_hold_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes('名称;说明\n泵;"first, line\nsecond"\n'.encode("utf-8-sig"))

    assert list(parse_delimited(path, lambda done, total: None)) == [record("名称: 泵; 说明: first, line\nsecond")]
