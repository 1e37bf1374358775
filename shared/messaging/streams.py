"""The streams, consumers and the bucket that we declare on the broker, and the comparison with what it holds.

Nobody else declares them: a framework that merges or updates configurations by itself would hide a difference.
"""

from collections.abc import Sequence
from dataclasses import fields
from datetime import timedelta

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DeliverPolicy,
    DiscardPolicy,
    ReplayPolicy,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)
from nats.js.errors import BadRequestError, NotFoundError

from shared.contracts.catalogue import (
    AUDIT_SUBJECT,
    COMMAND_SUBJECT,
    DEADLETTER_SUBJECT,
    EVENT_SUBJECT,
    Stream,
    command_filter,
    durable_name,
)
from shared.contracts.enums import Step
from shared.domain.errors import StoreUnavailable
from shared.messaging.dead_letters import ADVISORY_PREFIX, AdvisoryKind
from shared.messaging.errors import Difference, StreamDiffers
from shared.messaging.settings import MessagingSettings

UNLIMITED = -1
SHORT_MEMORY = timedelta(minutes=2)
"""How long the other streams know a message id; the inbox knows it for good."""
NAME_IN_USE = 10058

CANCELLED_BUCKET = "knowgate_cancelled"
BUCKET_STREAM = f"KV_{CANCELLED_BUCKET}"

MAX_WAITING = 8192
"""Pulls that may wait at one consumer: every slot of every worker holds one."""
MAX_ACK_PENDING = 20_000
"""Commands that may be in hand at once; the dispatcher's window is far smaller."""

ADVISORY_SUBJECT = f"{ADVISORY_PREFIX}{{advisory}}.{{stream}}.*"


def stream_configs(settings: MessagingSettings) -> tuple[StreamConfig, ...]:
    """Every stream that we declare, the bucket's included, with each field that matters set."""
    return (
        _stream(
            Stream.COMMANDS,
            [COMMAND_SUBJECT.format(step="*", tenant="*")],
            settings,
            retention=RetentionPolicy.WORK_QUEUE,
            discard=DiscardPolicy.NEW,
            max_bytes=settings.commands_max_bytes,
            duplicate_window=settings.duplicate_window,
        ),
        _stream(Stream.EVENTS, [EVENT_SUBJECT.format(type="*", owner="*")], settings, max_age=settings.events_max_age),
        _stream(Stream.AUDIT, [AUDIT_SUBJECT.format(tenant="*")], settings, max_age=settings.audit_max_age),
        _stream(
            Stream.DEADLETTERS,
            [
                DEADLETTER_SUBJECT.format(kind=">"),
                *(
                    ADVISORY_SUBJECT.format(advisory=advisory, stream=Stream.COMMANDS.value)
                    for advisory in AdvisoryKind
                ),
            ],
            settings,
            max_age=settings.deadletters_max_age,
        ),
        _bucket(settings),
    )


def _stream(
    name: str,
    subjects: list[str],
    settings: MessagingSettings,
    *,
    retention: RetentionPolicy = RetentionPolicy.LIMITS,
    discard: DiscardPolicy = DiscardPolicy.OLD,
    max_bytes: int = UNLIMITED,
    max_age: timedelta = timedelta(0),
    duplicate_window: timedelta = SHORT_MEMORY,
) -> StreamConfig:
    return StreamConfig(
        name=str(name),
        subjects=subjects,
        retention=retention,
        storage=StorageType.FILE,
        discard=discard,
        max_consumers=UNLIMITED,
        max_msgs=UNLIMITED,
        max_bytes=max_bytes,
        max_age=max_age.total_seconds(),
        duplicate_window=duplicate_window.total_seconds(),
        num_replicas=settings.replicas,
    )


def _bucket(settings: MessagingSettings) -> StreamConfig:
    config = _stream(
        BUCKET_STREAM,
        [f"$KV.{CANCELLED_BUCKET}.>"],
        settings,
        discard=DiscardPolicy.NEW,
        max_age=settings.cancelled_max_age,
    )
    return config.evolve(max_msgs_per_subject=1, allow_rollup_hdrs=True, deny_delete=True, allow_direct=True)


def consumer_config(step: Step, settings: MessagingSettings) -> ConsumerConfig:
    """The durable consumer from which all workers take the commands of one step."""
    return ConsumerConfig(
        name=durable_name(step),
        durable_name=durable_name(step),
        filter_subject=command_filter(step),
        deliver_policy=DeliverPolicy.ALL,
        replay_policy=ReplayPolicy.INSTANT,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=settings.ack_wait.total_seconds(),
        max_deliver=settings.max_deliver,
        max_waiting=MAX_WAITING,
        max_ack_pending=MAX_ACK_PENDING,
    )


async def declare(jetstream: JetStreamContext, settings: MessagingSettings) -> None:
    """Create what is missing and compare what is there.

    Raises StreamDiffers when the server keeps anything of ours differently (nothing is changed then), and
    StoreUnavailable when it does not answer.
    """
    differences: list[Difference] = []
    try:
        for config in stream_configs(settings):
            differences += _compare(config, await _stream_on_server(jetstream, config))
        if not differences:
            for step in Step:
                ours = consumer_config(step, settings)
                differences += _compare(ours, await _consumer_on_server(jetstream, ours))
    except (NatsError, TimeoutError) as error:
        raise StoreUnavailable(f"The broker did not answer while the streams were declared: {error}") from error
    if differences:
        raise StreamDiffers(tuple(differences))


async def _stream_on_server(jetstream: JetStreamContext, ours: StreamConfig) -> StreamConfig:
    """Adding an equal stream again changes nothing, so two processes may do it at once."""
    try:
        return (await jetstream.add_stream(ours)).config
    except BadRequestError as error:
        if error.err_code != NAME_IN_USE:
            raise
        return (await jetstream.stream_info(str(ours.name))).config


async def _consumer_on_server(jetstream: JetStreamContext, ours: ConsumerConfig) -> ConsumerConfig:
    """Looks first, because adding a consumer that exists would silently change it."""
    stream, name = Stream.COMMANDS.value, str(ours.durable_name)
    try:
        theirs: ConsumerConfig = (await jetstream.consumer_info(stream, name)).config
    except NotFoundError:
        theirs = (await jetstream.add_consumer(stream, ours)).config
    return theirs


def _compare(ours: StreamConfig | ConsumerConfig, theirs: StreamConfig | ConsumerConfig) -> Sequence[Difference]:
    return [
        Difference(name=str(ours.name), field=field.name, ours=want, theirs=have)
        for field in fields(ours)
        if (want := _plain(getattr(ours, field.name))) is not None
        and want != (have := _plain(getattr(theirs, field.name)))
    ]


def _plain(setting: object) -> object:
    """Enums as their text and subjects in one order, because the server answers with plain JSON."""
    if isinstance(setting, list):
        return sorted(str(item) for item in setting)
    return getattr(setting, "value", setting)
