"""The one catalogue of messages: stream, subject, model, who sends and who receives."""

from dataclasses import dataclass
from enum import StrEnum, unique

from shared.contracts.audit_messages import CheckpointSigned, EntrySealed
from shared.contracts.commands import COMMAND_BY_STEP
from shared.contracts.enums import EventType, Step
from shared.contracts.events import EVENT_BY_TYPE
from shared.contracts.ids import TenantId, tenant_token
from shared.contracts.wire import Wire


@unique
class Stream(StrEnum):
    """The JetStream streams that we declare."""

    COMMANDS = "KNOWGATE_COMMANDS"
    EVENTS = "KNOWGATE_EVENTS"
    AUDIT = "KNOWGATE_AUDIT"
    DEADLETTERS = "KNOWGATE_DEADLETTERS"


COMMAND_SUBJECT = "knowgate.command.{step}.{tenant}"
EVENT_SUBJECT = "knowgate.event.{type}.{owner}"
AUDIT_SUBJECT = "knowgate.audit.{tenant}"
DEADLETTER_SUBJECT = "knowgate.deadletter.{kind}"

SLOTS_SUBJECT = "knowgate.worker.slots"
"""Core subject on which workers announce their free hands by step, every two seconds."""
HANDS_SUBJECT = "knowgate.worker.hands"
"""Core subject on which workers say which commands they have in hand, every two seconds."""
ROOM_SUBJECT = "knowgate.dispatch.room"
"""Core subject on which the dispatcher says how much room each step's window has left."""
CANCEL_SUBJECT = "knowgate.cancel.{operation}"
"""Core subject that only saves work: a worker may stop early, correctness is in the projector."""


def command_subject(step: Step, tenant: TenantId) -> str:
    """The subject on which a command of `step` for `tenant` is published."""
    return COMMAND_SUBJECT.format(step=step.value, tenant=tenant_token(tenant))


def command_filter(step: Step) -> str:
    """The subject filter of the durable consumer of `step`."""
    return COMMAND_SUBJECT.format(step=step.value, tenant="*")


def event_subject(event_type: EventType, owner: str) -> str:
    """The subject on which an event about a command of `owner` is published."""
    return EVENT_SUBJECT.format(type=event_type.value, owner=owner)


def audit_subject(chain: str) -> str:
    """The subject on which entries and checkpoints of a chain are published."""
    return AUDIT_SUBJECT.format(tenant=tenant_token(TenantId(chain)))


def durable_name(step: Step) -> str:
    """The durable consumer from which workers take commands of `step`."""
    return f"knowgate-{step.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEntry:
    """One kind of message."""

    name: str
    model: type[Wire]
    stream: Stream
    subject: str
    sender: str
    receiver: str


CATALOGUE: tuple[MessageEntry, ...] = (
    *(
        MessageEntry(
            name=model.__name__,
            model=model,
            stream=Stream.COMMANDS,
            subject=COMMAND_SUBJECT.format(step=step.value, tenant="{tenant}"),
            sender="api, dispatcher",
            receiver="worker",
        )
        for step, model in COMMAND_BY_STEP.items()
    ),
    *(
        MessageEntry(
            name=model.__name__,
            model=model,
            stream=Stream.EVENTS,
            subject=EVENT_SUBJECT.format(type=event_type.value, owner="{owner}"),
            sender="worker",
            receiver="projector",
        )
        for event_type, model in EVENT_BY_TYPE.items()
    ),
    *(
        MessageEntry(
            name=model.__name__,
            model=model,
            stream=Stream.AUDIT,
            subject=AUDIT_SUBJECT.format(tenant="{tenant}"),
            sender="projector",
            receiver="whoever audits",
        )
        for model in (EntrySealed, CheckpointSigned)
    ),
)
"""Every durable message. `docs/asyncapi.json` and the message table of ARCHITECTURE.md are made from it."""


class WorkerSlots(Wire):
    """A worker's announcement: how many commands of each step it takes at once."""

    worker_id: str
    slots: dict[Step, int]


class WorkerHands(Wire):
    """What a worker has in hand: the heartbeat of each command, by which starved work is told from stuck work.

    A message of its own, because a release that does not know it must still understand `WorkerSlots`.
    """

    worker_id: str
    commands: tuple[str, ...]


class DispatchRoom(Wire):
    """The dispatcher's announcement: how many more commands of each step the stream may take."""

    room: dict[Step, int]
