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
