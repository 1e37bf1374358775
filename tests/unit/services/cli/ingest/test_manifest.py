"""The journal survives a crash in the middle of a line, and belongs to one run at a time."""

from pathlib import Path

import pytest

from services.cli.complaints import Complaint
from services.cli.ingest.manifest import Acceptance, Manifest, Request
from shared.contracts.ids import DocumentId, FileResourceId, OperationId, SpaceId

SPACE = SpaceId("spc_1")
REQUEST = Request(path="/a.txt", sha256="1" * 64, file_resource_id=FileResourceId("frs_1"), name="a.txt")
ACCEPTANCE = Acceptance(
    path="/a.txt", sha256="1" * 64, document_id=DocumentId("doc_1"), operation_id=OperationId("op_1")
)


async def test_what_was_written_is_read_by_the_next_run(tmp_path: Path) -> None:
    with Manifest.opened(tmp_path, SPACE) as manifest:
        await manifest.note_request(REQUEST)
    with Manifest.opened(tmp_path, SPACE) as manifest:
        assert manifest.unanswered("1" * 64) == REQUEST
        manifest.note_acceptance(ACCEPTANCE)
    with Manifest.opened(tmp_path, SPACE) as manifest:
        assert manifest.unanswered("1" * 64) is None
        assert manifest.made_of("1" * 64) == manifest.made_from("/a.txt") == ACCEPTANCE


async def test_half_a_line_of_a_crash_is_passed_over_and_the_next_line_stands_alone(tmp_path: Path) -> None:
    with Manifest.opened(tmp_path, SPACE) as manifest:
        await manifest.note_request(REQUEST)
    journal = tmp_path / "spc_1.jsonl"
    with journal.open("ab") as file:
        file.write(ACCEPTANCE.to_json()[:50])

    with Manifest.opened(tmp_path, SPACE) as manifest:
        assert manifest.unanswered("1" * 64) == REQUEST
        manifest.note_acceptance(ACCEPTANCE)
    with Manifest.opened(tmp_path, SPACE) as manifest:
        assert manifest.made_of("1" * 64) == ACCEPTANCE


async def test_a_document_is_known_by_its_latest_content_alone(tmp_path: Path) -> None:
    with Manifest.opened(tmp_path, SPACE) as manifest:
        manifest.note_acceptance(ACCEPTANCE)
        later = ACCEPTANCE.model_copy(update={"sha256": "2" * 64})
        manifest.note_acceptance(later)

        assert manifest.made_of("1" * 64) is None
        assert manifest.made_of("2" * 64) == manifest.made_from("/a.txt") == later


def test_two_runs_in_one_space_do_not_mix(tmp_path: Path) -> None:
    with (
        Manifest.opened(tmp_path, SPACE),
        Manifest.opened(tmp_path, SpaceId("spc_2")),
        pytest.raises(Complaint, match="Another `knowgate ingest`"),
        Manifest.opened(tmp_path, SPACE),
    ):
        pytest.fail("two runs")


def test_a_key_is_that_of_its_request(tmp_path: Path) -> None:
    other = REQUEST.model_copy(update={"file_resource_id": FileResourceId("frs_2")})

    assert REQUEST.key(SPACE) == REQUEST.model_copy().key(SPACE)
    assert len({REQUEST.key(SPACE), other.key(SPACE), REQUEST.key(SpaceId("spc_2"))}) == 3
