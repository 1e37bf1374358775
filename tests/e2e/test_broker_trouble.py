"""A broker that freezes or is away under a whole gateway, and processes of it that are killed and stay dead."""

import asyncio
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta

import pytest

from services.cli.access import opened
from services.cli.stack import Stack
from shared.client.errors import Busy
from shared.client.exchange import Patience
from shared.client.waiting import has_succeeded
from shared.contracts.documents import DocumentOperationAccepted, DocumentUploadRequest
from shared.contracts.files import FileResource
from shared.messaging.local_server import LocalNatsServer
from shared.providers.scripted.provider import ScriptedProvider
from shared.providers.scripted.script import EVERY_FILE, Call, Script
from tests.e2e.conversation import Conversation, conversation
from tests.e2e.family import descendants, wait_until_all_gone
from tests.support.eventually import until

ACK_WAIT = timedelta(seconds=5)
ACCEPTED_FOR = timedelta(seconds=3)
"""How long work is taken on without a broker."""
AWAY = timedelta(seconds=15)
"""Attempts to connect follow each other at one pace and never end, so a longer while shows nothing else."""
WITHIN = timedelta(seconds=60)
CONTENT = b"The pump is greased every year.\n\nThe valve is closed first."


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """A gateway with two workers and two projectors, on a broker and a provider of the tests."""

    stack: Stack
    broker: LocalNatsServer
    provider: ScriptedProvider

    @contextmanager
    def frozen_broker(self) -> Iterator[None]:
        """The broker stands still meanwhile."""
        os.kill(self.broker.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.broker.pid, signal.SIGCONT)

    @contextmanager
    def nobody_restarts(self) -> Iterator[None]:
        """What dies meanwhile stays dead."""
        launcher = self.stack.launcher.pid
        os.kill(launcher, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(launcher, signal.SIGCONT)

    def holder(self) -> int:
        """The process number of the active projector."""
        with closing(sqlite3.connect(self.stack.home.database, timeout=10)) as database:
            ((holder,),) = database.execute("SELECT holder FROM lease WHERE name = 'projector'").fetchall()
        return int(str(holder).rpartition(":")[2])

    async def calls(self, talk: Conversation, accepted: DocumentOperationAccepted) -> dict[Call, int]:
        """How often the provider was told to write, for the version that a document has now."""
        document = await talk.client.gateway.get_document(accepted.document_id)
        assert document.active_version is not None
        version_id = document.active_version.version_id
        return {call: self.provider.calls(call, version_id) for call in (Call.UPLOAD, Call.START)}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """One gateway for all of them; each leaves it whole."""
    folder = tmp_path_factory.mktemp("trouble")
    provider = ScriptedProvider(path=folder / "scripted.db")
    with LocalNatsServer(folder / "broker") as broker:
        variables = {
            "KNOWGATE_NATS_URL": broker.url,
            "KNOWGATE_NATS_ACK_WAIT": str(ACK_WAIT.total_seconds()),
            "KNOWGATE_ACCEPT_WITHOUT_BROKER": str(ACCEPTED_FOR.total_seconds()),
            "KNOWGATE_PROVIDER_KIND": "scripted",
            "KNOWGATE_PROVIDER_SCRIPTED_PATH": str(folder / "scripted.db"),
        }
        with Stack(folder / "home", workers=2, projectors=2, variables=variables) as stack:
            yield Gateway(stack=stack, broker=broker, provider=provider)
            children = descendants(stack.launcher.pid)
        wait_until_all_gone(children)
    asyncio.run(provider.close())


@pytest.fixture
async def talk(gateway: Gateway) -> AsyncIterator[Conversation]:
    """A caller of the gateway, whose documents take no time unless a test says otherwise."""
    gateway.provider.tell(EVERY_FILE, Script())
    async with conversation(gateway.stack, "trouble") as talk:
        yield talk


async def post(talk: Conversation, resource: FileResource) -> DocumentOperationAccepted:
    """Have a document made of a file that is there already."""
    request = DocumentUploadRequest(file_resource_id=resource.file_resource_id, document_name="Pump")
    return await talk.client.gateway.upload_document(talk.space_id, request)


async def until_started(gateway: Gateway, talk: Conversation, accepted: DocumentOperationAccepted) -> None:
    """Return when the provider has begun to ingest the document."""
    candidate = (await talk.client.gateway.get_document(accepted.document_id)).candidate_version
    assert candidate is not None
    version_id = candidate.version_id
    await until(lambda: gateway.provider.calls(Call.START, version_id) == 1, within=WITHIN)


async def test_a_broker_that_stands_still_during_a_request_runs_one_operation(
    gateway: Gateway, talk: Conversation
) -> None:
    resource = await talk.send("pump.txt", CONTENT)
    with gateway.frozen_broker():
        accepted = await post(talk, resource)
        await asyncio.sleep(1)
    assert has_succeeded(await talk.end_of(accepted.operation_id))
    assert await gateway.calls(talk, accepted) == {Call.UPLOAD: 1, Call.START: 1}


async def test_a_broker_that_stands_still_for_long_during_the_work_costs_no_second_effect(
    gateway: Gateway, talk: Conversation
) -> None:
    gateway.provider.tell("slow.txt", Script(ingest_time=timedelta(seconds=3)))
    accepted = await talk.submit("slow.txt", CONTENT)
    await until_started(gateway, talk, accepted)
    with gateway.frozen_broker():
        await asyncio.sleep(2 * ACK_WAIT.total_seconds())
    ended = await talk.end_of(accepted.operation_id)
    assert has_succeeded(ended)
    assert ended.retry_count == 0
    assert await gateway.calls(talk, accepted) == {Call.UPLOAD: 1, Call.START: 1}


async def test_a_broker_that_is_away_for_long_is_missed_and_found_again(gateway: Gateway, talk: Conversation) -> None:
    """Work is taken on for a while, then refused with the reason, then taken on again; all that was accepted ends."""
    resource = await talk.send("pump.txt", CONTENT)
    gateway.broker.kill()
    try:
        first = await post(talk, resource)
        await asyncio.sleep(AWAY.total_seconds())
        async with opened(gateway.stack.access(), patience=Patience(attempts=1)) as client:
            with pytest.raises(Busy) as busy:
                await post(Conversation(client, talk.space_id), resource)
    finally:
        gateway.broker.start()
    assert [fault.field for fault in busy.value.answer.field_errors] == ["broker_down"]
    second = await post(talk, resource)
    for accepted in (first, second):
        ended = await talk.end_of(accepted.operation_id)
        assert has_succeeded(ended)
        assert ended.retry_count == 0


async def test_a_worker_that_is_killed_for_good_in_its_work_leaves_it_to_the_other(
    gateway: Gateway, talk: Conversation
) -> None:
    """Both have work in hand; whoever is killed, the one that stays ends all of it."""
    gateway.provider.tell("slow.txt", Script(ingest_time=timedelta(seconds=4)))
    many = [await talk.submit("slow.txt", CONTENT) for _ in range(6)]
    for accepted in many:
        await until_started(gateway, talk, accepted)
    with gateway.nobody_restarts():
        os.kill(gateway.stack.record().children["worker-1"], signal.SIGKILL)
        for accepted in many:
            ended = await talk.end_of(accepted.operation_id)
            assert has_succeeded(ended)
            assert ended.retry_count == 0
            assert await gateway.calls(talk, accepted) == {Call.UPLOAD: 1, Call.START: 1}


async def test_a_projector_that_is_killed_for_good_leaves_its_lease_to_the_other(
    gateway: Gateway, talk: Conversation
) -> None:
    holder = gateway.holder()
    with gateway.nobody_restarts():
        os.kill(holder, signal.SIGKILL)
        accepted = await talk.submit("pump.txt", CONTENT)
        assert has_succeeded(await talk.end_of(accepted.operation_id))
        assert gateway.holder() != holder
