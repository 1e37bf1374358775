"""The audit stream as evidence: what it holds is compared with the chains, entry by entry."""

import json
from collections.abc import AsyncIterator

import pytest
from nats.js.api import Header

from services.cli.audit.report import Report
from services.cli.audit.verifying import Evidence, verify_audit
from shared.auth.checkpoints import CheckpointSigner
from shared.auth.development import new_signing_key
from shared.database.audit_chain import all_heads
from shared.database.database import Database
from shared.database.settings import DatabaseSettings
from shared.telemetry.stamps import utc_now
from tests.integration.projector.test_publishing import AUDIT, Desk, desk_at
from tests.integration.services.cli.test_audit_verification import Tamper, kinds, tamper

pytestmark = pytest.mark.anyio

SIGNER = CheckpointSigner(new_signing_key())

__all__ = ["tamper"]


@pytest.fixture
async def published(database: Database, nats_url: str) -> AsyncIterator[Desk]:
    """Four entries of one tenant and one of another, and a checkpoint, all of it published."""
    async with desk_at(database, nats_url) as desk:
        await desk.happen("acme", "acme", "globex", "acme", "acme")
        head = (await database.read(all_heads))["acme"]
        desk.publishing.signed([SIGNER.sign("acme", head.seq, head.hash, utc_now())])
        await desk.publishing.round()
        yield desk


async def verified(desk: Desk, settings: DatabaseSettings) -> Report:
    evidence = Evidence(keys=[SIGNER.public_key], broker=desk.settings)
    return await verify_audit(settings, evidence)


async def test_a_stream_that_holds_the_same_verifies(published: Desk, settings: DatabaseSettings) -> None:
    report = await verified(published, settings)

    assert (report.entries, report.copies, report.checkpoints, report.remarks) == (5, 6, 1, ())
    assert kinds(report) == []


async def test_an_entry_that_is_in_the_stream_twice_is_no_fault(published: Desk, settings: DatabaseSettings) -> None:
    first = (await published.held())[0]
    await published.connection.jetstream.publish(first.subject, first.body)

    assert kinds(await verified(published, settings)) == []


async def test_an_entry_that_was_rewritten_with_all_its_hashes_differs_from_its_copy(
    published: Desk, settings: DatabaseSettings, tamper: Tamper
) -> None:
    tamper("UPDATE audit_entry SET action = 'x' WHERE id = (SELECT entry_id FROM audit_chain WHERE chain = 'globex')")

    assert [kind for kind, _, _ in kinds(await verified(published, settings))] == ["entry_changed", "copy_differs"]


async def test_a_tail_that_was_cut_off_is_still_in_the_stream(
    published: Desk, settings: DatabaseSettings, tamper: Tamper
) -> None:
    tamper(
        "DELETE FROM audit_entry WHERE id IN (SELECT entry_id FROM audit_chain WHERE chain = 'acme' AND seq > 3)",
        "DELETE FROM audit_chain WHERE chain = 'acme' AND seq > 3",
    )

    assert kinds(await verified(published, settings)) == [("chain_cut", "acme", 4), ("chain_cut", "acme", 4)]


async def test_a_copy_that_was_removed_is_missed(published: Desk, settings: DatabaseSettings) -> None:
    held = await published.held()
    places = {message.message_id: message.sequence for message in held}
    second = next(sequence for name, sequence in places.items() if name and name.endswith("4vj.2"))
    await published.connection.jetstream.delete_msg(AUDIT, second)

    assert kinds(await verified(published, settings)) == [("copy_missing", "acme", 2)]


async def test_a_stream_that_lost_all_of_a_chain_is_missed(published: Desk, settings: DatabaseSettings) -> None:
    of_globex = next(message for message in await published.held() if json.loads(message.body)["chain"] == "globex")
    await published.connection.jetstream.delete_msg(AUDIT, of_globex.sequence)

    assert kinds(await verified(published, settings)) == [("copy_missing", "globex", 1)]


async def test_what_somebody_else_has_published_is_found(published: Desk, settings: DatabaseSettings) -> None:
    first = (await published.held())[0]
    forged = json.loads(first.body) | {"subject": "mallory"}
    publish = published.connection.jetstream.publish
    await publish(first.subject, json.dumps(forged).encode(), headers={Header.MSG_ID: "another"})
    await publish(first.subject, b"nothing")

    found = [kind for kind, _, _ in kinds(await verified(published, settings))]

    assert sorted(found) == ["copy_differs", "copy_unreadable"]
