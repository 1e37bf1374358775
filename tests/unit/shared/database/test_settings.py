"""Settings: addresses are read, driver named, waits bounded, and nothing secret is repeated."""

from datetime import timedelta

import pytest
from pydantic import SecretStr, ValidationError

from shared.database.settings import DatabaseSettings


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("sqlite:///knowgate.db", "sqlite:///knowgate.db"),
        ("sqlite:////var/lib/knowgate.db", "sqlite:////var/lib/knowgate.db"),
        ("sqlite+pysqlite:///x.db", "sqlite:///x.db"),
        ("postgresql://u:p@db:5433/k", "postgresql+psycopg://u:p@db:5433/k"),
        ("postgres://u@db/k", "postgresql+psycopg://u@db/k"),
        ("postgresql+psycopg://u@db/k?sslmode=require", "postgresql+psycopg://u@db/k?sslmode=require"),
    ],
)
def test_an_address_is_read_and_our_driver_named_in_it(url: str, expected: str) -> None:
    settings = DatabaseSettings(url=SecretStr(url))
    assert settings.address.render_as_string(hide_password=False) == expected


@pytest.mark.parametrize("url", ["", "mysql://u:hunter2@db/k", "sqlite://", "sqlite:///:memory:", "hunter2 is no url"])
def test_an_address_that_is_none_of_ours_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(ValidationError) as caught:
        DatabaseSettings(url=SecretStr(url))
    assert "hunter2" not in str(caught.value)


def test_a_password_is_not_shown() -> None:
    assert "hunter2" not in repr(DatabaseSettings(url=SecretStr("postgresql://u:hunter2@db/k")))


@pytest.mark.parametrize("name", ["lock_timeout", "statement_timeout", "idle_timeout"])
@pytest.mark.parametrize("wait", [timedelta(0), timedelta(seconds=5, microseconds=1)])
def test_no_session_waits_longer_than_five_seconds(name: str, wait: timedelta) -> None:
    with pytest.raises(ValidationError, match="than"):
        DatabaseSettings.model_validate({name: wait})


def test_the_environment_sets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNOWGATE_DATABASE_URL", "postgresql://u@db/k")
    monkeypatch.setenv("KNOWGATE_DATABASE_READERS", "9")
    monkeypatch.setenv("KNOWGATE_DATABASE_LOCK_TIMEOUT", "2.5")
    settings = DatabaseSettings()
    assert (settings.address.host, settings.readers, settings.lock_timeout) == ("db", 9, timedelta(seconds=2.5))


def test_settings_do_not_change() -> None:
    settings = DatabaseSettings()
    with pytest.raises(ValidationError):
        setattr(settings, "readers", 5)  # noqa: B010 - the type checker would not let us try
