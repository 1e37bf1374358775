"""The commands of those who keep it running, against a real address: what they ask for happens, and is told."""

import asyncio
from dataclasses import replace

from services.cli.complaints import Complaint
from shared.contracts.enums import FindingKind, FindingOutcome, LetterKind, ReconciliationStatus
from shared.contracts.ids import LetterId, TenantId
from shared.contracts.operating import Finding
from shared.database.database import Database
from shared.database.dead_letters import DeadLetter, insert_dead_letters
from shared.database.reconciliations import Reconciliation, next_reconciliation, save_reconciliation
from tests.integration.api.commanding import Line, line
from tests.integration.api.harness import START, Gateway
from tests.integration.api.serving import served

REASON = ("--reason", "It has hung since Monday.")


def rows(printed: str) -> list[list[str]]:
    return [row.split() for row in printed.splitlines()]


async def test_what_has_not_ended_is_listed_explained_and_ended(gateway: Gateway) -> None:
    operation_id = (await gateway.accept_document(await gateway.make_space()))["operationId"]
    busy = {f"op_{number}.upload.1.1": "w-1" for number in range(2)}
    gateway.workforce.workers = replace(gateway.workforce.workers, hands=busy)
    async with served(gateway) as address:
        cli = line(gateway, address)

        (listed,) = [row for row in rows(await cli.done("operations", "list")) if row and row[0] == operation_id]
        assert listed[1:8] == ["DOCUMENT_UPLOAD", "PENDING", "STARVED", "no", "2031-05-06", "07:08", "UTC"]
        assert await cli.done("operations", "list", "--overdue") == "Nothing is overdue.\n"
        assert await cli.done("operations", "list", "--older-than", "PT10M") == "Nothing is overdue.\n"

        explained = (await cli.done("operations", "explain", operation_id)).splitlines()
        assert explained == [
            "DOCUMENT_UPLOAD  PENDING",
            "STARVED: Its step upload waits for its turn: the workers are busy with other work. "
            "More workers for that step end the wait.",
            "It has been still since 2031-05-06 07:08 UTC.",
        ]

        told = await cli.done("operations", "fail", operation_id, *REASON)
        assert told == f"{operation_id} is FAILED. It can be retried.\n"
        assert await cli.done("operations", "list") == "Every operation has ended.\n"
        again = await cli.run("operations", "fail", operation_id, *REASON)

    assert again.exit_code == 1
    assert "The operation has ended already, as FAILED." in str(again.exception)


async def test_dead_letters_are_listed_shown_replayed_and_discarded(gateway: Gateway) -> None:
    letters = [
        DeadLetter(
            id=LetterId(name),
            tenant_id=TenantId("acme"),
            kind=LetterKind.EVENT,
            owner_id="",
            subject="knowgate.event.failed.x",
            body=b"\xff",
            error="It is no JSON.",
            created_at=START,
        )
        for name in ("ltr_1", "ltr_2")
    ]
    await gateway.parts.database.write(lambda conn: insert_dead_letters(conn, letters))
    async with served(gateway) as address:
        cli = line(gateway, address)

        listed = rows(await cli.done("dead-letters", "list"))
        first = ["ltr_1", "event", "OPEN", "-", "2031-05-06", "07:08", "UTC", "It", "is", "no", "JSON."]
        assert first in listed
        assert '"body": "/w=="' in await cli.done("dead-letters", "show", "ltr_1")

        told = await cli.done("dead-letters", "replay", "ltr_1", *REASON)
        assert told == "ltr_1 is REPLAYING: the projector applies it in a moment.\n"
        assert await cli.done("dead-letters", "discard", "ltr_2", *REASON) == "ltr_2 is DISCARDED.\n"
        assert await cli.done("dead-letters", "list") == "No dead letter is OPEN.\n"
        assert any(
            row[:1] == ["ltr_2"] for row in rows(await cli.done("dead-letters", "list", "--status", "discarded"))
        )
        again = await cli.run("dead-letters", "replay", "ltr_2", *REASON)

    assert again.exit_code == 1


async def reconciled(gateway: Gateway, cli: Line, *words: str, **outcome: object) -> tuple[int, str, object]:
    """Run the command while somebody carries its reconciliation out: the exit code, what was printed, the complaint."""

    async def carry_out(database: Database) -> Reconciliation:
        asked = None
        for _ in range(3000):
            asked = await database.read(next_reconciliation)
            if asked is not None:
                break
            await asyncio.sleep(0.01)
        assert asked is not None, "nobody has asked for one"
        done = replace(asked, **{"status": ReconciliationStatus.DONE, "ended_at": START, **outcome})  # type: ignore[arg-type]
        await database.write(lambda conn: save_reconciliation(conn, done))
        return asked

    async with asyncio.timeout(60):
        result, asked = await asyncio.gather(cli.run("reconcile", *words), carry_out(gateway.parts.database))
    assert asked.applies is ("--apply" in words)
    return result.exit_code, result.stdout, result.exception


async def test_a_reconciliation_is_waited_for_and_its_exit_code_tells_whether_anything_is_left(
    gateway: Gateway,
) -> None:
    file = Finding(
        kind=FindingKind.UNNEEDED_FILE,
        outcome=FindingOutcome.REPAIRED,
        file_id="fil_1",
        explanation="Nothing names it.",
    )
    lost = Finding(
        kind=FindingKind.MISSING_OBJECT,
        outcome=FindingOutcome.REPORTED,
        file_id="fil_2",
        explanation="The store has no object of it.",
    )
    async with served(gateway) as address:
        cli = line(gateway, address)

        clean = await reconciled(gateway, cli)
        assert clean[:2] == (0, "Everything is as it should be.\n")

        totals = {FindingKind.UNNEEDED_FILE: 1}
        code, _, _ = await reconciled(gateway, cli, "--apply", totals=totals, findings=(file,))
        assert code == 0

        totals |= {FindingKind.MISSING_OBJECT: 1}
        code, printed, _ = await reconciled(gateway, cli, "--apply", totals=totals, findings=(file, lost))
        assert code == 3
        assert ["UNNEEDED_FILE", "1"] in rows(printed)
        assert ["UNNEEDED_FILE", "REPAIRED", "fil_1", "Nothing", "names", "it."] in rows(printed)

        failed = {"status": ReconciliationStatus.FAILED, "error": "The provider is away."}
        code, _, complaint = await reconciled(gateway, cli, **failed)
        assert code == 1
        assert isinstance(complaint, Complaint)
        assert "The provider is away." in complaint.what
