"""The command line is a user of the local development issuer, with an assertion that is renewed in time."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import jwt
import pytest
from pydantic import SecretStr

from services.cli.access import find_access, local_credentials
from services.cli.complaints import Complaint
from services.cli.home import Home
from services.cli.settings import CliSettings
from shared.auth.development import DevelopmentIssuer, load_or_create_service_token

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.create()
    DevelopmentIssuer(home.keys)
    return home


def claims_of(assertion: str) -> dict[str, object]:
    claims: dict[str, object] = jwt.decode(assertion, options={"verify_signature": False})
    return claims


def test_the_assertion_says_who_the_settings_say_and_names_its_session(home: Home) -> None:
    settings = CliSettings(tenant="acme", subject="ada", roles=("knowledge-reader",), domains=("legal",))

    credentials = local_credentials(home, settings, clock=lambda: NOON)

    claims = claims_of(credentials.headers()["X-User-Assertion"])
    assert {name: claims[name] for name in ("tenant", "sub", "roles", "domains", "aud")} == {
        "tenant": "acme",
        "sub": "ada",
        "roles": ["knowledge-reader"],
        "domains": ["legal"],
        "aud": "knowgate",
    }
    assert claims["sid"] == credentials.session_id
    assert credentials.service_token == SecretStr(load_or_create_service_token(home.keys))


def test_an_assertion_serves_until_a_minute_before_its_end(home: Home) -> None:
    now = NOON
    credentials = local_credentials(home, CliSettings(), clock=lambda: now)
    first = credentials.assertion()

    now = NOON + timedelta(minutes=8, seconds=59)
    assert credentials.assertion() == first
    now = NOON + timedelta(minutes=9)
    renewed = credentials.assertion()

    assert renewed != first
    assert claims_of(renewed.get_secret_value())["exp"] == (now + timedelta(minutes=10)).timestamp()


def test_a_home_without_keys_is_told(tmp_path: Path) -> None:
    with pytest.raises(Complaint, match="has no keys yet"):
        local_credentials(Home(tmp_path), CliSettings())


def test_a_gateway_elsewhere_needs_credentials_from_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(Complaint, match="needs credentials") as complaint:
        find_access(tmp_path, CliSettings(url="https://gateway.test"))
    assert "KNOWGATE_CLI_ASSERTION" in complaint.value.remedy

    given = CliSettings(
        url="https://gateway.test",
        service_token=SecretStr("token"),
        assertion=SecretStr("a.b.c"),
        session_id="session-1",
    )
    access = find_access(tmp_path, given)

    assert access.url == "https://gateway.test"
    assert access.credentials.headers() == {
        "Authorization": "Bearer token",
        "X-User-Assertion": "a.b.c",
        "X-Harness-Session-Id": "session-1",
    }
