"""The generated files are realistic, different, and the same every time."""

from pathlib import Path

from services.cli.load.many_files import write_files


def test_files_are_the_same_every_time_and_differ_from_each_other(tmp_path: Path) -> None:
    write_files(tmp_path / "one", 50)
    write_files(tmp_path / "two", 50)

    contents = [path.read_bytes() for path in sorted((tmp_path / "one").iterdir())]
    assert contents == [path.read_bytes() for path in sorted((tmp_path / "two").iterdir())]
    assert len(set(contents)) == 50
    assert all(700 < len(content) < 16_000 for content in contents)
    assert sum(map(len, contents)) / 50 > 2_500
