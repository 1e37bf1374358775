"""Looking at streams on a real server."""

import pytest

from shared.contracts.enums import Step
from shared.domain.errors import StoreUnavailable
from shared.messaging.codec import command_message
from shared.messaging.publisher import Publisher
from shared.messaging.stream_state import StreamStates
from tests.support.messaging import connected, messaging_settings, upload_command

COMMANDS = "KNOWGATE_COMMANDS"


async def test_a_message_is_held_until_it_is_deleted(nats_url: str) -> None:
    settings = messaging_settings(nats_url)
    async with connected(settings) as connection:
        states = StreamStates(connection)
        command = command_message(upload_command(), step=Step.UPLOAD, source="test", traceparent=None)
        acked = await Publisher(connection, settings).send(command)
        assert await states.holds(COMMANDS, acked.sequence)
        assert await states.delete(COMMANDS, acked.sequence)
        assert not await states.holds(COMMANDS, acked.sequence)
        assert not await states.delete(COMMANDS, acked.sequence)


async def test_an_empty_stream_has_an_identity_and_no_sequence(nats_url: str) -> None:
    async with connected(messaging_settings(nats_url)) as connection:
        look = await StreamStates(connection).look(COMMANDS)
        assert await StreamStates(connection).message_at(COMMANDS, 0) is None
        assert await StreamStates(connection).message_at(COMMANDS, 1) is None
    assert (look.name, look.last_sequence, look.messages) == (COMMANDS, 0, 0)
    assert look.created.endswith("+00:00")


async def test_a_stream_that_is_not_there_is_not_mistaken_for_an_empty_one(nats_url: str) -> None:
    async with connected(messaging_settings(nats_url)) as connection:
        with pytest.raises(StoreUnavailable):
            await StreamStates(connection).look("KNOWGATE_OTHER")
        with pytest.raises(StoreUnavailable):
            await StreamStates(connection).holds("KNOWGATE_OTHER", 1)
