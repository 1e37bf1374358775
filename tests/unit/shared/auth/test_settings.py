"""The settings of authentication: what is incomplete or unsafe does not start, and secrets are not shown."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from shared.auth.settings import AuthSettings


def test_the_environment_gives_the_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KNOWGATE_AUTH_KEY_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("KNOWGATE_AUTH_AUDIENCE", "gateway")
    monkeypatch.setenv("KNOWGATE_AUTH_SERVICE_TOKENS", '[{"service": "agents", "token": "do not show this"}]')
    settings = AuthSettings()

    assert (settings.audience, settings.key_directory) == ("gateway", tmp_path)
    assert settings.service_tokens[0].tenants is None
    assert "do not show this" not in repr(settings)


@pytest.mark.parametrize(
    "given",
    [
        {"service_tokens": [{"service": "agents"}]},
        {"service_tokens": [{"service": "agents", "token": "x" * 16, "sha256": "0" * 64}]},
        {"service_tokens": [{"service": "agents", "token": "too short"}]},
        {"service_tokens": [{"service": "agents", "sha256": "not hexadecimal"}]},
        {"service_tokens": [{"service": "", "token": "x" * 16}]},
        {"issuers": [{"issuer": "https://issuer.example"}]},
        {"issuers": [{"issuer": "a", "jwks_url": "https://a.example", "shared_secret": "x" * 32}]},
        {"issuers": [{"issuer": "a", "jwks_url": "http://a.example/jwks"}]},
        {"issuers": [{"issuer": "a", "jwks_url": "http://127.0.0.1.example/jwks"}]},
        {"sealing_keys": ["AAAA"]},
        {"sealing_keys": ["not base64!"]},
        {"key_directory": None},
        {"key_directory": None, "development_issuer": True},
    ],
)
def test_what_is_incomplete_or_unsafe_is_refused(given: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(ValidationError):
        AuthSettings.model_validate({"key_directory": tmp_path} | given)


def test_a_refused_secret_is_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(ValidationError) as raised:
        AuthSettings.model_validate(
            {"key_directory": tmp_path, "service_tokens": [{"service": "a", "token": "s3cret", "sha256": "hunter2"}]}
        )

    assert "s3cret" not in str(raised.value)
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("url", ["https://a.example/jwks", "http://127.0.0.1:8080/jwks", "http://localhost/jwks"])
def test_keys_may_lie_at_a_safe_address(url: str, tmp_path: Path) -> None:
    settings = AuthSettings.model_validate({"key_directory": tmp_path, "issuers": [{"issuer": "a", "jwks_url": url}]})

    assert settings.issuers[0].jwks_url == url
