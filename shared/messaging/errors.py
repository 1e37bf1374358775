"""What messaging raises beside a plain StoreUnavailable."""

from dataclasses import dataclass

from shared.contracts.enums import Step
from shared.contracts.ids import TenantId
from shared.domain.errors import Rejected, StoreUnavailable


class StreamFull(StoreUnavailable):
    """The stream has reached its limit and takes nothing new; what it holds is safe."""

    message = "The queue is full."


class BrokerRefused(Rejected):
    """The broker does not let us in: wrong credentials or too many connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One field of a stream or consumer that the server keeps differently from what we declare."""

    name: str
    field: str
    ours: object
    theirs: object

    def __str__(self) -> str:
        return f"{self.name}: {self.field} should be {self.ours!r} and is {self.theirs!r} on the server"


class StreamDiffers(Rejected):
    """The server holds a stream or a consumer of ours with another configuration; `differences` names each field."""

    def __init__(self, differences: tuple[Difference, ...]) -> None:
        super().__init__("; ".join(str(difference) for difference in differences) + ".")
        self.differences = differences


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """What the headers of a message say of it, as far as they could be read."""

    command_id: str | None
    tenant_id: TenantId | None
    step: Step | None


class UnreadableMessage(Rejected):
    """The body of a message is not what its sender must have meant; `sender` is what its headers tell."""

    def __init__(self, reason: str, sender: Sender) -> None:
        super().__init__(f"The message could not be read: {reason}.")
        self.sender = sender


class NewerMessage(Rejected):
    """The body is of a newer schema than this release knows: one that is upgraded can read it, so it is nobody's fault.

    `command_id` and `tenant_id` are what its headers tell.
    """

    def __init__(self, version: int, known: int, *, command_id: str, tenant_id: TenantId) -> None:
        super().__init__(
            f"The message is of schema {version}, and this release reads up to schema {known}: upgrade this process."
        )
        self.version = version
        self.command_id = command_id
        self.tenant_id = tenant_id


def newer_message(version: int, known: int, sender: Sender) -> NewerMessage | UnreadableMessage:
    """Headers that do not tell whose it is were not made by a release of ours, however new: nobody can read it."""
    if sender.command_id is None or sender.tenant_id is None:
        return UnreadableMessage(f"it is of schema {version} and does not say whose it is", sender)
    return NewerMessage(version, known, command_id=sender.command_id, tenant_id=sender.tenant_id)
