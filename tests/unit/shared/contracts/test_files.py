"""The resource that an upload answers."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from shared.contracts.files import FileResource
from shared.contracts.ids import FileResourceId

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
DIGEST = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def resource(sha256: str = DIGEST, name: str = "a.txt", identifier: str = "f") -> FileResource:
    return FileResource(
        file_resource_id=FileResourceId(identifier),
        file_name=name,
        mime_type="text/plain",
        file_size=0,
        sha256=sha256,
        expires_at=NOON,
        deduplicated=True,
    )


def test_a_file_resource_names_its_content_by_digest() -> None:
    assert resource().sha256 == DIGEST
    for wrong in (DIGEST.upper(), DIGEST[1:], f"{DIGEST}\n", f"{DIGEST}0"):
        with pytest.raises(ValidationError):
            resource(sha256=wrong)


def test_its_id_fits_the_requests_that_name_it() -> None:
    assert resource(identifier="x" * 128).file_resource_id == "x" * 128
    for wrong in ("x" * 129, "", "a b"):
        with pytest.raises(ValidationError):
            resource(identifier=wrong)


def test_its_name_fits_every_answer_that_shows_it() -> None:
    assert resource(name="😀" * 255).file_name == "😀" * 255
    with pytest.raises(ValidationError):
        resource(name="x" * 256)
