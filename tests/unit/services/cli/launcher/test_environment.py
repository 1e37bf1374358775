"""Children get the home's own settings, the person's before those, and nothing that is not theirs."""

import json
from pathlib import Path

import pytest

from services.cli.home import Home
from services.cli.launcher.environment import Environment
from shared.auth.checkpoints import load_signer

BROKER = "nats://token@127.0.0.1:1"


def environment(tmp_path: Path, **outer: str) -> Environment:
    return Environment(home=Home(tmp_path), port=8081, outer={"PATH": "/bin", **outer})


def test_the_api_gets_all_that_it_needs_from_the_home(tmp_path: Path) -> None:
    variables = environment(tmp_path).of_api(BROKER)

    assert variables["PATH"] == "/bin"
    assert variables["KNOWGATE_API_HOST"] == "127.0.0.1"
    assert variables["KNOWGATE_API_PORT"] == "8081"
    assert variables["KNOWGATE_DATABASE_URL"] == f"sqlite:///{tmp_path}/knowgate.sqlite"
    assert variables["KNOWGATE_FILES_URL"] == f"file://{tmp_path}/objects"
    assert variables["KNOWGATE_EMBEDDED_INDEX"] == f"{tmp_path}/index/index.sqlite"
    assert variables["KNOWGATE_NATS_URL"] == BROKER
    assert variables["KNOWGATE_AUTH_DEVELOPMENT_ISSUER"] == "true"
    assert variables["KNOWGATE_AUTH_KEY_DIRECTORY"] == str(tmp_path / "keys")


def test_the_api_is_told_the_service_token_only_by_its_hash(tmp_path: Path) -> None:
    variables = environment(tmp_path).of_api(BROKER)

    token = (tmp_path / "keys" / "development-service.token").read_text()
    (known,) = json.loads(variables["KNOWGATE_AUTH_SERVICE_TOKENS"])
    assert set(known) == {"service", "sha256"}
    assert not any(token in value for value in variables.values())


def test_a_worker_has_no_database_and_no_keys(tmp_path: Path) -> None:
    given = environment(tmp_path, KNOWGATE_DATABASE_URL="postgresql://secret@host/name", KNOWGATE_AUTH_AUDIENCE="mine")

    names = given.of_worker(BROKER).keys()

    secret = ("KNOWGATE_DATABASE_", "KNOWGATE_AUTH_", "KNOWGATE_AUDIT_")
    assert not [name for name in names if name.startswith(secret)]
    assert {"KNOWGATE_FILES_URL", "KNOWGATE_EMBEDDED_INDEX", "KNOWGATE_NATS_URL", "PATH"} <= names


def test_a_projector_has_no_key_but_the_one_that_it_signs_the_audit_with(tmp_path: Path) -> None:
    given = environment(tmp_path, KNOWGATE_AUTH_AUDIENCE="mine").of_projector(BROKER, is_only_one=True)

    assert not [name for name in given if name.startswith("KNOWGATE_AUTH_")]
    assert {"KNOWGATE_DATABASE_URL", "KNOWGATE_FILES_URL", "KNOWGATE_EMBEDDED_INDEX"} <= given.keys()
    assert load_signer(Path(given["KNOWGATE_AUDIT_KEY_FILE"])).public_key.startswith("-----BEGIN PUBLIC KEY-----")
    assert given["KNOWGATE_AUDIT_CHECKPOINT_FILE"] == str(tmp_path / "audit-checkpoints.jsonl")


def test_a_key_that_the_person_has_set_signs_the_audit_and_no_other_is_made(tmp_path: Path) -> None:
    given = environment(tmp_path, KNOWGATE_AUDIT_KEY_FILE="/of/mine.pem")

    assert given.of_projector(BROKER, is_only_one=True)["KNOWGATE_AUDIT_KEY_FILE"] == "/of/mine.pem"
    assert not given.home.audit_key.exists()


@pytest.mark.parametrize(
    ("outer", "is_only_one", "sole"),
    [
        ({}, True, "true"),
        ({}, False, None),
        ({"KNOWGATE_DATABASE_URL": "postgresql://host/shared"}, True, None),
    ],
)
def test_only_the_one_projector_of_a_database_of_ones_own_takes_the_lease_at_once(
    tmp_path: Path, outer: dict[str, str], is_only_one: bool, sole: str | None
) -> None:
    variables = environment(tmp_path, **outer).of_projector(BROKER, is_only_one=is_only_one)

    assert variables.get("KNOWGATE_PROJECTOR_SOLE") == sole


def test_what_the_person_has_set_wins(tmp_path: Path) -> None:
    given = environment(
        tmp_path,
        KNOWGATE_NATS_URL="nats://elsewhere:4222",
        KNOWGATE_FILES_URL="s3://bucket",
        KNOWGATE_PIPELINE_RETRY_FIRST_WAIT="1",
    )

    variables = given.of_worker(given.outer["KNOWGATE_NATS_URL"])

    assert not given.has_own_broker
    assert variables["KNOWGATE_FILES_URL"] == "s3://bucket"
    assert variables["KNOWGATE_NATS_URL"] == "nats://elsewhere:4222"
    assert variables["KNOWGATE_PIPELINE_RETRY_FIRST_WAIT"] == "1"


def test_the_port_is_the_one_that_was_chosen(tmp_path: Path) -> None:
    given = environment(tmp_path, KNOWGATE_API_PORT="0")

    assert given.of_api(BROKER)["KNOWGATE_API_PORT"] == "8081"
    assert given.url == "http://127.0.0.1:8081"


@pytest.mark.parametrize("outer", [{"KNOWGATE_API_HOST": "0.0.0.0"}, {"KNOWGATE_AUTH_SERVICE_TOKENS": "[]"}])
def test_development_credentials_are_not_for_a_network_nor_beside_others(tmp_path: Path, outer: dict[str, str]) -> None:
    variables = environment(tmp_path, **outer).of_api(BROKER)

    assert "KNOWGATE_AUTH_DEVELOPMENT_ISSUER" not in variables
    assert not (tmp_path / "keys").exists()


def test_settings_of_the_command_line_are_nobody_elses(tmp_path: Path) -> None:
    assert "KNOWGATE_CLI_ASSERTION" not in environment(tmp_path, KNOWGATE_CLI_ASSERTION="secret").of_api(BROKER)
