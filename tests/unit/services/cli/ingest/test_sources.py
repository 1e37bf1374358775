"""Files are found where people say, once each, and named so that a document can bear the name."""

from pathlib import Path

import pytest

from services.cli.complaints import Complaint
from services.cli.ingest.sources import Source, find_sources, pieces_of, sha256_of, shown_name


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("guides/pump/start.md", "guides/pump/.draft.md", "guides/seal.pdf", ".git/config", "readme.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path


def names(sources: list[Source]) -> list[str]:
    return [source.name for source in sources]


def test_a_directory_is_taken_with_all_below_it_but_hidden_names(tree: Path) -> None:
    assert names(find_sources([tree])) == ["guides/pump/start.md", "guides/seal.pdf", "readme.txt"]


def test_a_file_is_named_by_itself_and_taken_once(tree: Path) -> None:
    assert names(find_sources([tree / "guides" / "seal.pdf", tree / "guides"])) == ["seal.pdf", "pump/start.md"]


def test_a_file_named_outright_may_be_hidden(tree: Path) -> None:
    assert names(find_sources([tree / "guides" / "pump" / ".draft.md"])) == [".draft.md"]


def test_a_directory_that_is_linked_into_itself_ends(tree: Path) -> None:
    (tree / "guides" / "again").symlink_to(tree)

    assert sorted(source.path.name for source in find_sources([tree])) == ["readme.txt", "seal.pdf", "start.md"]


def test_a_path_that_is_not_there_is_told(tree: Path) -> None:
    with pytest.raises(Complaint, match=r"none\.txt does not exist"):
        find_sources([tree / "none.txt"])


def test_a_name_that_is_too_long_keeps_its_end(tree: Path) -> None:
    assert shown_name(Path("directory/" * 40 + "手册.pdf")).endswith("directory/手册.pdf")
    assert len(shown_name(Path("directory/" * 40 + "手册.pdf"))) == 255


def test_a_name_that_is_no_text_can_still_be_sent() -> None:
    assert shown_name(Path("caf\udce9.txt")) == "caf\ufffd.txt"


async def test_content_comes_in_pieces_and_tells_how_far_it_is(tree: Path) -> None:
    path = tree / "big.bin"
    path.write_bytes(bytes(300 * 1024))
    told: list[int] = []

    pieces = [len(piece) async for piece in pieces_of(path, told.append)]

    assert pieces == [262144, 45056]
    assert told == [262144, 307200]
    assert await sha256_of(tree / "readme.txt") == ("9e6e4772050998a5c0dc3c61acf3dab0a7e594566171fa5746d6b62f9598efb6")
