"""Why an operation that has not ended has not, and what there is to be done about it. Pure: others look, this tells."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from shared.contracts.enums import OperationType, Step, UnfinishedReason
from shared.contracts.ids import CommandId, LetterId, OperationId
from shared.contracts.wire import format_time
from shared.domain.operation import Operation
from shared.domain.purge import Purge, PurgeStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCommand:
    """A command that nothing has answered yet, as the outbox holds it."""

    id: CommandId
    due_at: datetime
    published_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """An operation that has not ended, with all that is known of what it waits for."""

    operation: Operation
    commands: tuple[OpenCommand, ...] = ()
    """Its own and those of the purges that it waits for."""
    letter_id: LetterId | None = None
    """The oldest dead letter of it, or of a purge that it waits for, that is not settled."""
    purges: tuple[Purge, ...] = ()
    """What a delete waits for and is not done."""
    waits_for: tuple[OperationId, ...] = ()
    """What still runs on the document of a delete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveWorkers:
    """What the workers that are alive have said lately."""

    is_known: bool
    """Every live worker has been heard by now. Who has just begun to listen, or cannot, knows of none."""
    slots: Mapping[Step, int]
    """How many commands of each step they take at once, all together."""
    hands: Mapping[str, str]
    """By the id of a command, the worker that has it in hand."""
    is_complete: bool = True
    """All of them say what they have in hand; those of an older release do not."""

    def is_idle(self, step: Step) -> bool:
        """Whether any of them could take a command of the step at once."""
        return self.slots.get(step, 0) > sum(_step_of(command) == step.value for command in self.hands)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why an operation has not ended; `sentence` says what it waits for and what can be done."""

    reason: UnfinishedReason
    sentence: str
    command: CommandId | None = None
    """The command that it hangs on."""
    worker_id: str | None = None
    letter_id: LetterId | None = None


WORST_FIRST: Final = (
    UnfinishedReason.STUCK,
    UnfinishedReason.NO_WORKER,
    UnfinishedReason.STARVED,
    UnfinishedReason.WAITING,
    UnfinishedReason.WORKING,
)
"""Of several commands the worst tells why the operation has not ended."""


def still_since(operation: Operation) -> datetime:
    """When the operation moved last, or when its retry is due if that is later."""
    return max(operation.updated_at, operation.next_retry_at or operation.updated_at)


def is_overdue(operation: Operation, now: datetime, after: timedelta) -> bool:
    """Whether it has not moved for longer than `after`."""
    return now - still_since(operation) > after


def explain(unfinished: Unfinished, workers: LiveWorkers, now: datetime, patience: timedelta) -> Explanation:
    """Why the operation has not ended.

    `patience` is how long the broker takes to hand a command on whose worker is gone. Nothing is called stuck or
    without a worker before the workers are known.
    """
    if unfinished.letter_id is not None:
        return _buried(unfinished.letter_id)
    held = next((command for command in unfinished.commands if str(command.id) in workers.hands), None)
    if held is not None:
        return _working(held, workers.hands[str(held.id)])
    look = _Look(unfinished, workers, now, patience)
    if unfinished.operation.type is OperationType.DOCUMENT_DELETE:
        return look.delete()
    return look.work()


def _buried(letter_id: LetterId) -> Explanation:
    return Explanation(
        reason=UnfinishedReason.STUCK,
        sentence=f"An event of it could not be applied and lies in dead letter {letter_id}. "
        "Replay or discard that letter, or fail the operation.",
        letter_id=letter_id,
    )


def _working(command: OpenCommand, worker_id: str) -> Explanation:
    return Explanation(
        reason=UnfinishedReason.WORKING,
        sentence=f"Worker {worker_id} has its step {command.id.step.value} in hand.",
        command=command.id,
        worker_id=worker_id,
    )


@dataclass(frozen=True, slots=True)
class _Look:
    """One look at one operation that no worker has in hand."""

    unfinished: Unfinished
    workers: LiveWorkers
    now: datetime
    patience: timedelta

    def work(self) -> Explanation:
        """Of an operation with commands of its own: the cancel, once there is one, and otherwise the work."""
        operation = self.unfinished.operation
        current = operation.cancel or operation.work
        command = next((command for command in self.unfinished.commands if command.id == current), None)
        if command is None:
            return self._unless_new("It has no command that could be answered. Fail the operation.", current)
        return self._open(command)

    def delete(self) -> Explanation:
        """Of a delete, which waits for other work on its document and then for its purges."""
        if self.unfinished.waits_for:
            others = ", ".join(self.unfinished.waits_for)
            return _waiting(f"It begins when what else runs on the document has ended: {others}.")
        if self.unfinished.commands:
            found = [self._open(command) for command in self.unfinished.commands]
            return min(found, key=lambda one: WORST_FIRST.index(one.reason))
        due = [purge.due_at for purge in self.unfinished.purges if purge.status is PurgeStatus.WAITING]
        if not due:
            return self._unless_new("Nothing is left that it could wait for. Fail the operation.", None)
        number = len(self.unfinished.purges)
        if min(due) > self.now:
            return _waiting(f"It waits for {number} purges; the next is tried at {format_time(min(due))}.")
        return _waiting(
            f"It waits for {number} purges, which begin when every command that is out for its versions is answered."
        )

    def _unless_new(self, sentence: str, command: CommandId | None) -> Explanation:
        """What has moved just now may be read half before and half after that."""
        if self.now - self.unfinished.operation.updated_at <= self.patience:
            return replace(_waiting("It has moved just now. Look again."), command=command)
        return Explanation(reason=UnfinishedReason.STUCK, sentence=sentence, command=command)

    def _open(self, command: OpenCommand) -> Explanation:
        step = command.id.step
        if command.published_at is None and command.due_at > self.now:
            return replace(
                _waiting(f"Its step {step.value} is tried again at {format_time(command.due_at)}."), command=command.id
            )
        reason, sentence = self._due(command)
        return Explanation(reason=reason, sentence=sentence, command=command.id)

    def _due(self, command: OpenCommand) -> tuple[UnfinishedReason, str]:
        step = command.id.step.value
        if not self.workers.is_known:
            return (
                UnfinishedReason.STARVED,
                f"Its step {step} is due. Which workers are alive is not known yet: look again in a few seconds.",
            )
        if self.workers.slots.get(command.id.step, 0) == 0:
            return (
                UnfinishedReason.NO_WORKER,
                f"Its step {step} is due and no live worker takes that step. Start workers for it.",
            )
        if command.published_at is None:
            return UnfinishedReason.STARVED, self._not_handed_out(command.id.step)
        return self._published(command, command.published_at)

    def _not_handed_out(self, step: Step) -> str:
        if self.workers.is_idle(step):
            return (
                f"Its step {step.value} is due and not handed out yet although workers are idle. That takes a moment, "
                "and longer while its tenant has as much at work as it may; else see whether a projector is running."
            )
        return (
            f"Its step {step.value} waits for its turn: the workers are busy with other work. "
            "More workers for that step end the wait."
        )

    def _published(self, command: OpenCommand, published_at: datetime) -> tuple[UnfinishedReason, str]:
        step = command.id.step
        heard_at = self.unfinished.operation.heard_at
        has_begun = heard_at is not None and heard_at >= published_at
        last_sign = max(published_at, heard_at or published_at)
        if not has_begun and not self.workers.is_idle(step):
            return (
                UnfinishedReason.STARVED,
                f"Its step {step.value} is out, and the workers are busy with other work. "
                "More workers for that step end the wait.",
            )
        if self.now - last_sign <= self.patience or not self.workers.is_complete:
            return (
                UnfinishedReason.STARVED,
                f"Its step {step.value} is out and no worker has said yet that it has it in hand. "
                "The broker hands it on if its worker is gone.",
            )
        return (
            UnfinishedReason.STUCK,
            f"Its step {step.value} is out, and no live worker has it in hand although the broker should have handed "
            "it on by now. It is published again if its message is gone; if that does not help, fail the operation.",
        )


def _waiting(sentence: str) -> Explanation:
    return Explanation(reason=UnfinishedReason.WAITING, sentence=sentence)


def _step_of(command: str) -> str:
    """Workers of another release may name commands of steps that are not known here."""
    return command.split(".")[1] if command.count(".") > 1 else ""
