"""What workers do at a provider and report of it, as far as the lifecycle can tell: command, ending, event."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from shared.contracts.commands import AnyCommand, PurgeVersion, VersionCommand
from shared.contracts.enums import EventType, FailureClass, FailureReason, InterruptReason, Step
from shared.contracts.events import AnyEvent, SpaceProvisioned, SpaceRemoved, VersionUploaded
from shared.contracts.ids import CommandId
from tests.integration.lifecycle.bench import Bench, verified

WORK: Final = frozenset({Step.UPLOAD, Step.INGEST, Step.REINDEX})


@dataclass
class Provider:
    """What a provider holds, by the version that each document is named after."""

    natives: dict[str, str] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    made: int = 0

    def find_or_create(self, version: str) -> str:
        """The document of a version."""
        if version not in self.natives:
            self.made += 1
            self.natives[version] = f"n-{self.made}"
        return self.natives[version]

    def remove(self, version: str, native: str | None = None) -> None:
        """Exactly one document, or whatever bears the version's name."""
        if native is None or self.natives.get(version) == native:
            self.natives.pop(version, None)
            self.done.discard(version)


def well(bench: Bench, provider: Provider, command: AnyCommand) -> AnyEvent | None:
    """The effect is there."""
    command_id = command.command_id
    match CommandId.parse(command_id).step:
        case Step.PROVISION:
            return bench.succeeded(command_id, SpaceProvisioned(native_space_id="native"))
        case Step.REMOVE:
            return bench.succeeded(command_id, SpaceRemoved())
        case Step.PURGE | Step.PURGE_FILE:
            return _purged(bench, provider, command)
        case Step.CANCEL:
            return _cancelled(bench, provider, command)
        case Step.UPLOAD:
            native = provider.find_or_create(_version_of(command))
            return bench.succeeded(command_id, VersionUploaded(native_document_id=native))
        case Step.INGEST | Step.REINDEX:
            native = provider.find_or_create(_version_of(command))
            provider.done.add(_version_of(command))
            return bench.succeeded(command_id, verified(native))


def _purged(bench: Bench, provider: Provider, command: AnyCommand) -> AnyEvent:
    if isinstance(command, PurgeVersion):
        provider.remove(command.version_id, command.native_document_id)
    return bench.event(command.command_id, EventType.PURGED)


def _cancelled(bench: Bench, provider: Provider, command: AnyCommand) -> AnyEvent:
    version = _version_of(command)
    if version in provider.done:
        return bench.event(command.command_id, EventType.TOO_LATE)
    provider.remove(version)
    return bench.event(command.command_id, EventType.CANCELLED)


def withdrawn(bench: Bench, provider: Provider, command: AnyCommand) -> AnyEvent | None:
    """A worker that has heard of a cancel removes what there is and says so in its own command's name."""
    step = CommandId.parse(command.command_id).step
    if step not in WORK or _version_of(command) in provider.done:
        return None
    return _cancelled(bench, provider, command)


def fails(bench: Bench, provider: Provider, command: AnyCommand) -> AnyEvent:
    """Nobody is told what was there by then."""
    return bench.failed(command.command_id, FailureReason.PROVIDER_UNAVAILABLE, FailureClass.TRANSIENT)


def fails_halfway(bench: Bench, provider: Provider, command: AnyCommand) -> AnyEvent | None:
    """A document was made by then."""
    if CommandId.parse(command.command_id).step not in WORK:
        return None
    provider.find_or_create(_version_of(command))
    return fails(bench, provider, command)


def is_hopeless(bench: Bench, provider: Provider, command: AnyCommand) -> AnyEvent | None:
    """Work on a version, or the making of a space, cannot succeed."""
    if CommandId.parse(command.command_id).step not in WORK | {Step.PROVISION, Step.REMOVE}:
        return None
    return bench.failed(command.command_id, FailureReason.NO_TEXT, FailureClass.PERMANENT)


def shuts_down(bench: Bench, provider: Provider, command: AnyCommand) -> AnyEvent:
    """The worker was stopped."""
    return bench.interrupted(command.command_id, InterruptReason.SHUTDOWN)


def crashes(bench: Bench, provider: Provider, command: AnyCommand) -> AnyEvent:
    """Workers died over it."""
    return bench.interrupted(command.command_id, InterruptReason.CRASH)


def begins(bench: Bench, provider: Provider, command: AnyCommand) -> AnyEvent:
    """A hint, which may be lost."""
    return bench.event(command.command_id, EventType.STARTED)


def progresses(bench: Bench, provider: Provider, command: AnyCommand) -> AnyEvent | None:
    """A hint, which may be lost."""
    if CommandId.parse(command.command_id).step not in WORK:
        return None
    return bench.event(command.command_id, EventType.PROGRESSED, percent=40)


Ending = Callable[[Bench, Provider, AnyCommand], AnyEvent | None]

ENDINGS: Final[Mapping[str, Ending]] = {
    ending.__name__: ending
    for ending in (
        well,
        begins,
        progresses,
        fails,
        fails_halfway,
        is_hopeless,
        shuts_down,
        crashes,
        withdrawn,
    )
}


def _version_of(command: AnyCommand) -> str:
    assert isinstance(command, VersionCommand | PurgeVersion)
    return command.version_id
