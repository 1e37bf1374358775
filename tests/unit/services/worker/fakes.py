"""Stand-ins for what a worker stands on: broker, delivery, provider tools."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from services.worker.fencing import FencedFiles
from services.worker.steps.tools import Pace, Tools
from shared.contracts.events import AnyEvent
from shared.domain.errors import StoreUnavailable
from shared.messaging.codec import Message, read_event
from shared.messaging.publisher import Acked
from shared.providers.ports import ProviderWrites


class Broker:
    """Takes messages; `failures` of the next sends fail, and calls `on_failure` each time."""

    def __init__(self, *, failures: int = 0, on_failure: Callable[[], None] = lambda: None) -> None:
        self.messages: list[Message] = []
        self.failures = failures
        self._on_failure = on_failure

    async def send(self, message: Message) -> Acked:
        if self.failures > 0:
            self.failures -= 1
            self._on_failure()
            raise StoreUnavailable
        self.messages.append(message)
        return Acked(stream="EVENTS", stream_created="then", sequence=len(self.messages), is_duplicate=False)

    async def hint(self, message: Message) -> None:
        self.messages.append(message)

    @property
    def events(self) -> list[AnyEvent]:
        return [read_event(one.body, one.headers) for one in self.messages if one.subject.startswith("knowgate.event.")]


class Handed:
    """A delivery that remembers how it was settled."""

    def __init__(self, message: Message, *, number: int = 1) -> None:
        self.body = message.body
        self.headers: Mapping[str, str] = message.headers
        self.number = number
        self.origin = "KNOWGATE_COMMANDS.1"
        self.beats = 0
        self.settled: list[str] = []

    async def in_progress(self) -> None:
        self.beats += 1

    async def ack(self) -> None:
        self.settled.append("ack")

    async def terminate(self) -> None:
        self.settled.append("terminate")


class Removed:
    """An object store of which only what was deleted is of interest."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    async def delete(self, key: str) -> None:
        self.keys.append(key)


class Naps:
    """Sleeps that take no time; `after` so many something happens."""

    def __init__(self) -> None:
        self.taken: list[float] = []
        self.then: dict[int, Callable[[], None]] = {}

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)
        self.then.get(len(self.taken), lambda: None)()


PACE = Pace(first_look=timedelta(milliseconds=100), look_every=timedelta(seconds=1), verify_within=timedelta(seconds=2))


def tools(provider: ProviderWrites, *, naps: Naps | None = None, progress: list[int] | None = None) -> Tools:
    """Tools around a provider, with nothing fenced."""

    async def progressed(percent: int) -> None:
        if progress is not None:
            progress.append(percent)

    return Tools(
        provider=provider,
        files=FencedFiles(Removed(), lambda: None),
        pace=PACE,
        progressed=progressed,
        sleep=naps or Naps(),
    )
