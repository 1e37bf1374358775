"""The settings of files, as the environment gives them."""

from datetime import timedelta

import pytest
from pydantic import ValidationError

from shared.files.settings import FilesSettings


def test_the_environment_gives_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNOWGATE_FILES_URL", "s3://bucket/prefix")
    monkeypatch.setenv("KNOWGATE_FILES_OPTIONS", '{"secret_access_key": "hidden"}')
    monkeypatch.setenv("KNOWGATE_FILES_MAX_BYTES", "1000")
    settings = FilesSettings()

    assert (settings.url, settings.max_bytes) == ("s3://bucket/prefix", 1000)
    assert settings.options["secret_access_key"].get_secret_value() == "hidden"
    assert "hidden" not in repr(settings)


def test_uploads_of_two_gibibytes_wait_a_day_unless_told_otherwise() -> None:
    settings = FilesSettings(url="memory:///")

    assert (settings.max_bytes, settings.resource_ttl) == (2147483648, timedelta(hours=24))


def test_a_store_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KNOWGATE_FILES_URL", raising=False)
    with pytest.raises(ValidationError, match="url"):
        FilesSettings()
