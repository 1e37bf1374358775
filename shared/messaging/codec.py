"""Commands and events as bytes with headers, and back: CloudEvents 1.0 in binary mode, trace context, message id.

Owns the schema versions of bodies: an old one is raised step by step by `UPCASTERS` before it is validated.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from pydantic import TypeAdapter, ValidationError

from shared.contracts.catalogue import command_subject, event_subject
from shared.contracts.commands import COMMAND_BY_STEP, COMMANDS, AnyCommand
from shared.contracts.enums import Step
from shared.contracts.events import EVENTS, AnyEvent
from shared.contracts.ids import CommandId, TenantId
from shared.contracts.wire import format_time
from shared.messaging.errors import Sender, UnreadableMessage

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
TYPE = "com.knowgate.{kind}.v{version}"
CURRENT_ENDING = f".v{CURRENT_SCHEMA}"
UPCASTERS: Upcasters = {}
"""Empty while there is only one version."""

SAFE_IN_HEADERS = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"%')
"""What CloudEvents leaves as it is in a header; everything else is percent-encoded."""


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
    *, command_id: str, step: Step, tenant_id: str, issued_at: datetime, source: str, traceparent: str | None
) -> dict[str, str]:
    """The headers of a command whose body is already made; all of it stands in an outbox row."""
    return _headers(
        ce_id=command_id,
        kind=COMMAND_BY_STEP[step].__name__,
        tenant_id=tenant_id,
        time=issued_at,
        source=source,
        traceparent=traceparent,
    )


def event_message(event: AnyEvent, *, source: str, traceparent: str | None) -> Message:
    """An event as a message."""
    return Message(
        subject=event_subject(event.type, event.owner_id),
        body=event.to_json(),
        headers=_headers(
            ce_id=event.event_id,
            kind=type(event).__name__,
            tenant_id=event.tenant_id,
            time=event.occurred_at,
            source=source,
            traceparent=traceparent,
        ),
        message_id=event.event_id,
    )


def _headers(
    *, ce_id: str, kind: str, tenant_id: str, time: datetime, source: str, traceparent: str | None
) -> dict[str, str]:
    headers = {
        CE_ID: ce_id,
        CE_SOURCE: f"/knowgate/{source}",
        CE_TYPE: TYPE.format(kind=kind, version=CURRENT_SCHEMA),
        CE_SPECVERSION: SPECVERSION,
        CE_TIME: format_time(time),
        CE_TENANT: quote(tenant_id, safe=SAFE_IN_HEADERS),
        CONTENT_TYPE: JSON_CONTENT,
    }
    if traceparent is not None:
        headers[TRACEPARENT] = traceparent
    return headers


def read_command(body: bytes, headers: Headers | None, upcasters: Upcasters = UPCASTERS) -> AnyCommand:
    """The command in a message; UnreadableMessage, with what the headers tell, when there is none."""
    return _read(COMMANDS, "kind", body, headers or {}, upcasters)


def read_event(body: bytes, headers: Headers | None, upcasters: Upcasters = UPCASTERS) -> AnyEvent:
    """The event in a message; UnreadableMessage when there is none."""
    return _read(EVENTS, "type", body, headers or {}, upcasters)


def sender_of(headers: Headers) -> Sender:
    """Which command, tenant and step a message is about, by its headers alone."""
    command, tenant = _command_in(headers.get(CE_ID, "")), headers.get(CE_TENANT)
    return Sender(
        command_id=None if command is None else str(command),
        tenant_id=None if tenant is None else TenantId(unquote(tenant)),
        step=None if command is None else command.step,
    )


def _command_in(message_id: str) -> CommandId | None:
    """The command that a command's id is, or that an event's id begins with."""
    try:
        return CommandId.parse(".".join(message_id.split(".")[:COMMAND_PARTS]))
    except ValueError:
        return None


def _read(adapter: TypeAdapter[T], kind_field: str, body: bytes, headers: Headers, upcasters: Upcasters) -> T:
    try:
        if not headers.get(CE_TYPE, "").endswith(CURRENT_ENDING):
            body = json.dumps(_upcast(json.loads(body), kind_field, upcasters)).encode()
        return adapter.validate_json(body)
    except ValidationError as error:
        raise UnreadableMessage(_faults(error), sender_of(headers)) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableMessage(type(error).__name__, sender_of(headers)) from error


def _upcast(body: Body, kind_field: str, upcasters: Upcasters) -> Body:
    """A body of any known schema version as one of the current version; KeyError when there is no way."""
    while (version := body["schemaVersion"]) != CURRENT_SCHEMA:
        body = upcasters[body[kind_field], version](body)
    return body


def _faults(error: ValidationError) -> str:
    """Where the body is wrong, without any of its content."""
    return ", ".join(
        f"{'.'.join(str(part) for part in fault['loc']) or 'body'} ({fault['type']})"
        for fault in error.errors(include_url=False, include_input=False, include_context=False)[:5]
    )
