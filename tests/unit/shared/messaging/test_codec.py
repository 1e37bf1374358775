"""Messages as bytes and headers, and back."""

import json
from dataclasses import replace

import pytest

from shared.contracts.commands import COMMAND_BY_STEP, Command
from shared.contracts.enums import Step
from shared.contracts.events import EVENT_BY_TYPE, Event
from shared.contracts.ids import TenantId
from shared.messaging.codec import (
    CURRENT_SCHEMA,
    Body,
    Schema,
    command_headers,
    command_message,
    event_message,
    read_command,
    read_event,
    sender_of,
)
from shared.messaging.errors import NewerMessage, Sender, UnreadableMessage
from shared.outbox.sending import message_of
from tests.integration.database.samples import a_command
from tests.support.messaging import NOON, started_event, upload_command

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_a_command_carries_cloudevents_attributes_and_its_trace() -> None:
    message = command_message(upload_command(), step=Step.UPLOAD, source="dispatcher", traceparent=TRACE, publication=2)
    assert message.headers == {
        "ce-id": "op_1.upload.1.1",
        "ce-source": "/knowgate/dispatcher",
        "ce-type": "com.knowgate.UploadVersion.v1",
        "ce-specversion": "1.0",
        "ce-time": "2026-03-01T12:00:00.000Z",
        "ce-tenant": "acme",
        "content-type": "application/json",
        "traceparent": TRACE,
    }
    assert message.message_id == "op_1.upload.1.1.2"
    assert message.subject.startswith("knowgate.command.upload.")


def test_an_event_is_known_by_its_own_id() -> None:
    message = event_message(started_event(3), source="worker", traceparent=None)
    assert message.message_id == message.headers["ce-id"] == "op_3.upload.1.1.run.1"
    assert message.subject == "knowgate.event.started.op_3"
    assert "traceparent" not in message.headers


def test_the_headers_of_an_outbox_row_are_those_of_its_command() -> None:
    command = upload_command()
    message = command_message(command, step=Step.UPLOAD, source="api", traceparent=TRACE)
    assert message.headers == command_headers(
        command_id=command.command_id,
        step=Step.UPLOAD,
        tenant_id=command.tenant_id,
        issued_at=NOON,
        source="api",
        traceparent=TRACE,
    )


def test_what_was_written_is_read_back() -> None:
    command = command_message(upload_command(), step=Step.UPLOAD, source="api", traceparent=None)
    event = event_message(started_event(), source="worker", traceparent=None)
    assert read_command(command.body, command.headers) == upload_command()
    assert read_event(event.body, event.headers) == started_event()


def test_a_body_is_read_without_headers_too() -> None:
    assert read_command(upload_command().to_json(), None) == upload_command()


@pytest.mark.parametrize(
    "body",
    [b"", b"not json", b"[]", b"null", b'{"kind": "UploadVersion"}', b'{"kind": "Unheard"}', b"\xff\xfe", b"[" * 5000],
)
def test_a_body_that_is_no_command_still_tells_whose_it_is_by_its_headers(body: bytes) -> None:
    headers = command_message(upload_command(), step=Step.UPLOAD, source="api", traceparent=None).headers
    with pytest.raises(UnreadableMessage) as refusal:
        read_command(body, headers)
    assert refusal.value.sender == Sender(command_id="op_1.upload.1.1", tenant_id=TenantId("acme"), step=Step.UPLOAD)
    with pytest.raises(UnreadableMessage):
        read_command(body, None)


def test_the_reason_names_the_place_and_never_the_content() -> None:
    body = upload_command().to_json().replace(b'"deadlineSeconds":60', b'"deadlineSeconds":"secret"')
    with pytest.raises(UnreadableMessage, match=r"UploadVersion\.deadlineSeconds") as refusal:
        read_command(body, {"ce-type": "com.knowgate.UploadVersion.v1"})
    assert "secret" not in refusal.value.message


@pytest.mark.parametrize("ce_id", ["", "nonsense", "op_1.unheard.1.1", "op_1.upload.x.1"])
def test_headers_that_tell_nothing_are_told_from_those_that_do(ce_id: str) -> None:
    assert sender_of({"ce-id": ce_id}) == Sender(command_id=None, tenant_id=None, step=None)


def test_an_event_tells_of_its_command() -> None:
    headers = event_message(started_event(4), source="worker", traceparent=None).headers
    assert sender_of(headers).command_id == "op_4.upload.1.1"


@pytest.mark.parametrize("tenant", ["acme", "a.b*c>d", "租户 1", 'quote"percent%line\r\nbreak', "é" * 50])
def test_a_tenant_survives_the_headers_whatever_it_is_called(tenant: str) -> None:
    message = command_message(upload_command(tenant=tenant), step=Step.UPLOAD, source="api", traceparent=None)
    assert message.headers["ce-tenant"].isascii()
    assert sender_of(message.headers).tenant_id == tenant
    assert len(message.subject.split(".")) == 4


def test_a_body_of_an_older_schema_is_raised_step_by_step() -> None:
    old = json.loads(upload_command().to_json())
    old["schemaVersion"] = -1
    old["file"] = old.pop("source")

    def to_zero(body: Body) -> Body:
        return {**body, "schemaVersion": 0, "origin": body["file"]}

    def to_one(body: Body) -> Body:
        kept = {name: value for name, value in body.items() if name not in {"file", "origin"}}
        return {**kept, "schemaVersion": 1, "source": body["origin"]}

    schema = Schema(upcasters={("UploadVersion", -1): to_zero, ("UploadVersion", 0): to_one})
    assert read_command(json.dumps(old).encode(), {}, schema) == upload_command()


@pytest.mark.parametrize("said", ["com.knowgate.UploadVersion.v1", "com.knowgate.UploadVersion.v0", ""])
def test_the_body_says_which_version_it_is_of_whatever_its_headers_say(said: str) -> None:
    """A dispatcher of another release may have made the headers of a body that lay in the outbox."""
    old = {**json.loads(upload_command().to_json()), "schemaVersion": 0}
    schema = Schema(upcasters={("UploadVersion", 0): lambda body: {**body, "schemaVersion": 1}})
    assert read_command(json.dumps(old).encode(), {"ce-type": said}, schema) == upload_command()
    assert read_command(upload_command().to_json(), {"ce-type": said}, schema) == upload_command()


def test_an_older_body_to_which_no_way_leads_is_unreadable() -> None:
    old = {**json.loads(upload_command().to_json()), "schemaVersion": 0}
    with pytest.raises(UnreadableMessage, match="no way leads from schema 0"):
        read_command(json.dumps(old).encode(), {})


def newer(version: object = 2) -> bytes:
    """A command as another release may have written it."""
    return json.dumps({"schemaVersion": version, "kind": "ExportVersion", "anything": "else"}).encode()


def test_a_body_of_a_newer_schema_is_told_from_one_that_nobody_can_read() -> None:
    headers = command_message(upload_command(), step=Step.UPLOAD, source="api", traceparent=None).headers
    with pytest.raises(NewerMessage, match="of schema 2, and this release reads up to schema 1: upgrade") as refusal:
        read_command(newer(), headers)
    assert (refusal.value.version, refusal.value.command_id, refusal.value.tenant_id) == (2, "op_1.upload.1.1", "acme")
    with pytest.raises(NewerMessage):
        read_event(newer(), event_message(started_event(), source="worker", traceparent=None).headers)


@pytest.mark.parametrize("headers", [{}, {"ce-id": "op_1.upload.1.1"}, {"ce-tenant": "acme"}, {"ce-id": "?"}])
def test_a_newer_body_that_does_not_say_whose_it_is_is_unreadable(headers: dict[str, str]) -> None:
    with pytest.raises(UnreadableMessage, match="of schema 2 and does not say whose it is"):
        read_command(newer(), headers)


@pytest.mark.parametrize("version", ["2", None, 1.5, [2]])
def test_a_version_that_is_none_makes_no_newer_body(version: object) -> None:
    headers = command_message(upload_command(), step=Step.UPLOAD, source="api", traceparent=None).headers
    with pytest.raises(UnreadableMessage):
        read_command(newer(version), headers)


def test_the_headers_of_a_body_of_another_release_say_its_version() -> None:
    row = a_command("op_1")
    assert message_of(row, "dispatcher").headers["ce-type"] == "com.knowgate.UploadVersion.v1"
    old = replace(row, body=b'{"schemaVersion":0}')
    message = message_of(old, "dispatcher")
    assert (message.headers["ce-type"], message.body) == ("com.knowgate.UploadVersion.v0", b'{"schemaVersion":0}')


@pytest.mark.parametrize("model", [*COMMAND_BY_STEP.values(), *EVENT_BY_TYPE.values()])
def test_every_model_is_of_the_current_schema(model: type[Command] | type[Event]) -> None:
    assert model.model_fields["schema_version"].default == CURRENT_SCHEMA


def test_a_tenant_that_no_sender_of_ours_would_write_counts_as_not_told() -> None:
    assert sender_of({"ce-id": "op_1.upload.1.1", "ce-tenant": "\udcff"}).tenant_id is None
