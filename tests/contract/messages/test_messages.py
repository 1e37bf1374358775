"""Messages lie in streams for weeks: what this release writes is what golden.json holds, and it reads that back."""

import json
from pathlib import Path

import pytest

from shared.contracts.catalogue import CATALOGUE
from shared.contracts.commands import COMMANDS
from shared.contracts.events import EVENTS
from shared.messaging.audit_codec import read_audit_message
from tests.contract.messages.samples import audit_messages, commands, events

GOLDEN: dict[str, dict[str, object]] = json.loads((Path(__file__).parent / "golden.json").read_text(encoding="utf-8"))
SAMPLES = {**commands(), **events(), **audit_messages()}


def test_every_message_of_the_catalogue_has_a_sample() -> None:
    assert {name.partition(":")[0] for name in SAMPLES} == {entry.name for entry in CATALOGUE}
    assert set(GOLDEN) == set(SAMPLES)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_message_is_written_as_it_always_was(name: str) -> None:
    assert json.loads(SAMPLES[name].to_json()) == GOLDEN[name]


@pytest.mark.parametrize("name", sorted(commands()))
def test_a_command_that_lies_in_the_stream_is_read(name: str) -> None:
    assert COMMANDS.validate_json(json.dumps(GOLDEN[name])) == SAMPLES[name]


@pytest.mark.parametrize("name", sorted(events()))
def test_an_event_that_lies_in_the_stream_is_read(name: str) -> None:
    assert EVENTS.validate_json(json.dumps(GOLDEN[name])) == SAMPLES[name]


@pytest.mark.parametrize("name", sorted(audit_messages()))
def test_what_is_published_of_the_audit_is_read(name: str) -> None:
    assert read_audit_message(json.dumps(GOLDEN[name]).encode()) == SAMPLES[name]
