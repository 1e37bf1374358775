"""Settings are written the same way everywhere."""

from datetime import timedelta
from typing import get_args

import pytest
from pydantic_settings import BaseSettings

from tests.architecture.environment import settings_classes


def durations() -> list[tuple[type[BaseSettings], str]]:
    return [
        (settings, name)
        for settings in settings_classes()
        for name, field in settings.model_fields.items()
        if timedelta in {field.annotation, *get_args(field.annotation)}
    ]


@pytest.mark.parametrize(("settings", "name"), durations(), ids=lambda item: getattr(item, "__name__", item))
def test_a_duration_may_be_written_in_seconds_and_as_iso_8601(settings: type[BaseSettings], name: str) -> None:
    for written in ("2", "PT2S"):
        checked = settings.__pydantic_validator__.validate_assignment(settings.model_construct(), name, written)
        assert getattr(checked, name) == timedelta(seconds=2)


def test_every_setting_has_a_prefix_of_ours() -> None:
    for settings in settings_classes():
        assert str(settings.model_config.get("env_prefix", "")).startswith("KNOWGATE_"), settings
