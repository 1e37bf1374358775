"""Settings of the HTTP process."""

import pytest
from pydantic import ValidationError

from services.api.settings import ApiSettings
from shared.contracts.enums import Action


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KNOWGATE_API_HOST", "KNOWGATE_API_PORT", "KNOWGATE_PUBLIC_URL", "KNOWGATE_LIST_MAX_ITEMS"):
        monkeypatch.delenv(name, raising=False)


def test_links_begin_with_the_public_address() -> None:
    assert ApiSettings(public_url="https://gateway.example/base/").address == "https://gateway.example/base"


@pytest.mark.parametrize(
    ("host", "address"),
    [("127.0.0.1", "http://127.0.0.1:9000"), ("localhost", "http://localhost:9000"), ("::1", "http://[::1]:9000")],
)
def test_on_one_machine_links_begin_with_where_it_listens(host: str, address: str) -> None:
    assert ApiSettings(api_host=host, api_port=9000).address == address


@pytest.mark.parametrize("name", ["most_waiters", "most_streams"])
def test_nobody_at_all_may_be_let_wait_but_not_fewer(name: str) -> None:
    assert getattr(ApiSettings.model_validate({name: 0}), name) == 0
    with pytest.raises(ValidationError):
        ApiSettings.model_validate({name: -1})


@pytest.mark.parametrize("url", ["http://gateway.example", "ftp://gateway.example", "gateway.example", ""])
def test_a_public_address_must_be_safe(url: str) -> None:
    with pytest.raises(ValidationError):
        ApiSettings(public_url=url)


def test_an_api_on_a_network_needs_a_public_address() -> None:
    with pytest.raises(ValidationError, match="KNOWGATE_PUBLIC_URL"):
        ApiSettings(api_host="0.0.0.0")


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNOWGATE_API_PORT", "9001")
    monkeypatch.setenv("KNOWGATE_LIST_MAX_ITEMS", "20")
    monkeypatch.setenv("KNOWGATE_ROLES", '{"viewer": ["SPACE_VIEW"]}')

    settings = ApiSettings()

    assert (settings.api_port, settings.list_max_items) == (9001, 20)
    assert settings.roles == {"viewer": frozenset({Action.SPACE_VIEW})}


@pytest.mark.parametrize("most", [0, 101])
def test_a_page_is_never_larger_than_the_contracts(most: int) -> None:
    with pytest.raises(ValidationError):
        ApiSettings(list_max_items=most)
