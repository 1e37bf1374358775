"""Commands and events as bytes with headers, and back: CloudEvents 1.0 in binary mode, trace context, message id.

Owns the schema versions of bodies: an old one is raised step by step by `UPCASTERS` before it is validated, a newer
one is told from one that nobody can read. The body says which version it is; the header repeats it for others.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote, unquote

import orjson
from pydantic import ValidationError

from shared.contracts.catalogue import command_subject, event_subject
from shared.contracts.commands import COMMAND_BY_STEP, COMMANDS, AnyCommand
from shared.contracts.enums import Step
from shared.contracts.events import EVENTS, AnyEvent
from shared.contracts.ids import CommandId, TenantId
from shared.contracts.wire import Wire, format_time
from shared.messaging.errors import Sender, UnreadableMessage, newer_message

MESSAGE_ID = "Nats-Msg-Id"
TRACEPARENT = "traceparent"
CONTENT_TYPE = "content-type"
CE_ID = "ce-id"
CE_SOURCE = "ce-source"
CE_TYPE = "ce-type"
CE_SPECVERSION = "ce-specversion"
CE_TIME = "ce-time"
CE_TENANT = "ce-tenant"

JSON_CONTENT = "application/json"
SPECVERSION = "1.0"
COMMAND_PARTS = 4

Headers = Mapping[str, str]
Body = dict[str, Any]
Upcasters = Mapping[tuple[str, int], Callable[[Body], Body]]
"""By kind and schema version: how a body of that version becomes one of the next."""

T = TypeVar("T")

CURRENT_SCHEMA = 1
"""Raised with every release that changes a body, or adds a kind of message. The models say the same."""
SCHEMA_VERSION = "schemaVersion"
TYPE = "com.knowgate.{kind}.v{version}"
UPCASTERS: Upcasters = {}
"""Empty while there is only one version."""

SAFE_IN_HEADERS = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"%')
"""What CloudEvents leaves as it is in a header; everything else is percent-encoded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """What a release knows of bodies: the version that is its own, and how older ones become that.

    A value that readers are given, so that a test can have another release beside this one. `commands` and `events`
    read bodies of its own version, and `written` makes them.
    """

    version: int = CURRENT_SCHEMA
    upcasters: Upcasters = field(default_factory=lambda: UPCASTERS)
    commands: Callable[[bytes], AnyCommand] = COMMANDS.validate_json
    events: Callable[[bytes], AnyEvent] = EVENTS.validate_json
    written: Callable[[Wire], bytes] = Wire.to_json

    def raised(self, body: Body, kind_field: str) -> Body:
        """A body of an older version as one of this version; KeyError when there is no way."""
        while (version := body[SCHEMA_VERSION]) != self.version:
            body = self.upcasters[body[kind_field], version](body)
        return body


SCHEMA = Schema()
"""This release's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message ready to be published, and known by `message_id` when it is published again."""

    subject: str
    body: bytes
    headers: dict[str, str]
    message_id: str


def command_message(
    command: AnyCommand, *, step: Step, source: str, traceparent: str | None, publication: int = 1
) -> Message:
    """A command as a message. `source` names the sending service."""
    return Message(
        subject=command_subject(step, command.tenant_id),
        body=command.to_json(),
        headers=command_headers(
            command_id=command.command_id,
            step=step,
            tenant_id=command.tenant_id,
            issued_at=command.issued_at,
            source=source,
            traceparent=traceparent,
        ),
        message_id=command_message_id(command.command_id, publication),
    )


def command_message_id(command_id: str, publication: int) -> str:
    """The message id of one publication of a command; a deliberate re-publication has another one."""
    return f"{command_id}.{publication}"


def command_headers(
    *,
    command_id: str,
    step: Step,
    tenant_id: str,
    issued_at: datetime,
    source: str,
    traceparent: str | None,
    version: int = CURRENT_SCHEMA,
) -> dict[str, str]:
    """The headers of a command whose body is already made, maybe by another release; all of it is in an outbox row."""
    return cloud_event_headers(
        ce_id=command_id,
        kind=COMMAND_BY_STEP[step].__name__,
        tenant_id=tenant_id,
        time=issued_at,
        source=source,
        traceparent=traceparent,
        version=version,
    )


def event_message(event: AnyEvent, *, source: str, traceparent: str | None, schema: Schema = SCHEMA) -> Message:
    """An event as a message."""
    return Message(
        subject=event_subject(event.type, event.owner_id),
        body=schema.written(event),
        headers=cloud_event_headers(
            ce_id=event.event_id,
            kind=type(event).__name__,
            tenant_id=event.tenant_id,
            time=event.occurred_at,
            source=source,
            traceparent=traceparent,
            version=schema.version,
        ),
        message_id=event.event_id,
    )


def cloud_event_headers(
    *,
    ce_id: str,
    kind: str,
    tenant_id: str,
    time: datetime,
    source: str,
    traceparent: str | None,
    version: int = CURRENT_SCHEMA,
) -> dict[str, str]:
    """The headers of any message of ours but its message id. `source` names the sending service."""
    headers = {
        CE_ID: ce_id,
        CE_SOURCE: f"/knowgate/{source}",
        CE_TYPE: TYPE.format(kind=kind, version=version),
        CE_SPECVERSION: SPECVERSION,
        CE_TIME: format_time(time),
        CE_TENANT: quote(tenant_id, safe=SAFE_IN_HEADERS),
        CONTENT_TYPE: JSON_CONTENT,
    }
    if traceparent is not None:
        headers[TRACEPARENT] = traceparent
    return headers


def read_command(body: bytes, headers: Headers | None, schema: Schema = SCHEMA) -> AnyCommand:
    """The command in a message; UnreadableMessage, with what the headers tell, when there is none, and NewerMessage
    when only a newer release can read it.
    """
    return _read(schema.commands, "kind", body, headers or {}, schema)


def read_event(body: bytes, headers: Headers | None, schema: Schema = SCHEMA) -> AnyEvent:
    """The event in a message; UnreadableMessage when there is none, NewerMessage when a newer release can read it."""
    return _read(schema.events, "type", body, headers or {}, schema)


def sender_of(headers: Headers) -> Sender:
    """Which command, tenant and step a message is about, by its headers alone."""
    command, tenant = _command_in(headers.get(CE_ID, "")), headers.get(CE_TENANT)
    return Sender(
        command_id=None if command is None else str(command),
        tenant_id=TenantId(unquote(tenant)) if tenant is not None and tenant.isascii() else None,
        step=None if command is None else command.step,
    )


def _command_in(message_id: str) -> CommandId | None:
    """The command that a command's id is, or that an event's id begins with."""
    try:
        return CommandId.parse(".".join(message_id.split(".")[:COMMAND_PARTS]))
    except ValueError:
        return None


def version_of(body: bytes) -> int | None:
    """Which schema version a body says that it is of; None when it does not say."""
    try:
        parsed = orjson.loads(body)
    except ValueError:
        return None
    version = parsed.get(SCHEMA_VERSION) if isinstance(parsed, dict) else None
    return version if isinstance(version, int) else None


def _read(read: Callable[[bytes], T], kind_field: str, body: bytes, headers: Headers, schema: Schema) -> T:
    """Most bodies are of this version, and one of another version is none of this one's."""
    try:
        return read(body)
    except ValidationError as error:
        refusal = error
    version, sender = version_of(body), sender_of(headers)
    if version is None or version == schema.version:
        raise UnreadableMessage(_faults(refusal), sender) from refusal
    if version > schema.version:
        raise newer_message(version, schema.version, sender)
    try:
        return read(orjson.dumps(schema.raised(orjson.loads(body), kind_field)))
    except ValidationError as error:
        raise UnreadableMessage(_faults(error), sender) from error
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableMessage(f"no way leads from schema {version}", sender) from error


def _faults(error: ValidationError) -> str:
    """Where the body is wrong, without any of its content."""
    return ", ".join(
        f"{'.'.join(str(part) for part in fault['loc']) or 'body'} ({fault['type']})"
        for fault in error.errors(include_url=False, include_input=False, include_context=False)[:5]
    )
