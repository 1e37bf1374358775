"""Settings of a worker as they stand in its environment."""

from datetime import timedelta

import pytest
from pydantic import SecretStr, ValidationError

from services.worker.settings import WorkerSettings
from shared.contracts.enums import Step
from shared.messaging.settings import Login, MessagingSettings


def test_durations_are_seconds_or_iso_8601(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNOWGATE_WORKER_STOP_WITHIN", "7.5")
    monkeypatch.setenv("KNOWGATE_NATS_ACK_WAIT", "PT1M")
    assert WorkerSettings().stop_within == timedelta(seconds=7.5)
    assert MessagingSettings().ack_wait == timedelta(minutes=1)


def test_a_worker_may_take_some_steps_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNOWGATE_WORKER_UPLOAD_SLOTS", "0")
    monkeypatch.setenv("KNOWGATE_WORKER_INGEST_SLOTS", "16")
    slots = WorkerSettings().slots
    assert (slots[Step.UPLOAD], slots[Step.INGEST], slots[Step.REINDEX]) == (0, 16, 16)


def test_the_net_of_the_broker_lies_far_above_the_fourth_delivery(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNOWGATE_NATS_MAX_DELIVER", "4")
    with pytest.raises(ValidationError):
        MessagingSettings()


def test_secrets_are_not_shown() -> None:
    settings = MessagingSettings.model_validate({"url": "nats://very-secret@host:4222", "token": "also-secret"})
    assert "secret" not in repr(settings)


def test_several_servers_stand_in_one_address() -> None:
    settings = MessagingSettings.model_validate({"url": "nats://one:4222, nats://two:4222"})
    assert settings.servers == ["nats://one:4222", "nats://two:4222"]


def test_who_we_are_counts_for_every_server_whichever_address_tells_it() -> None:
    """A cluster names further servers by itself, and a reconnect to one of them brings no credentials of its own."""
    by_token = MessagingSettings.model_validate({"url": "nats://sesame@one:4222,two:4222"})
    by_user = MessagingSettings.model_validate({"url": "nats://one:4222,nats://ann:a:b@two:4222"})
    nobody = MessagingSettings.model_validate({"url": "tls://one:4222"})
    apart = MessagingSettings.model_validate({"url": "nats://one:4222", "token": "sesame"})
    assert by_token.servers == ["nats://one:4222", "nats://two:4222"]
    assert by_token.login == apart.login == Login(token=SecretStr("sesame"))
    assert by_user.login == Login(user="ann", password=SecretStr("a:b"))
    assert (nobody.servers, nobody.login) == (["tls://one:4222"], Login())
