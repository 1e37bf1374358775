"""`knowgate audit`: verify what is stored, look at it, take it away."""

from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer
from rich.status import Status

from services.cli.access import Access, find_access, opened
from services.cli.audit.reading import entries_as_they_come, entries_up_to_now
from services.cli.commands.options import USUAL_HOME, HomeOption
from services.cli.complaints import FAILED
from services.cli.console import answers, remarks
from services.cli.home import Home
from services.cli.settings import CliSettings
from shared.contracts.operating import MOST_AUDIT_ENTRIES, AuditEntry

if TYPE_CHECKING:
    from services.cli.audit.report import Report
    from services.cli.audit.verifying import Evidence

audit = typer.Typer(no_args_is_help=True, help="What was done, by whom, and whether anybody has changed it since.")


@audit.command("verify")
def verify(
    home: HomeOption = USUAL_HOME,
    stream: Annotated[bool, typer.Option("--stream", help="Compare with the audit stream too.")] = False,
    checkpoints: Annotated[
        list[Path] | None, typer.Option(help="A file of checkpoints; may be given several times.")
    ] = None,
    public_key: Annotated[
        list[Path] | None, typer.Option(help="A key in PEM that checkpoints may be signed with; several times too.")
    ] = None,
) -> None:
    """Verify the audit in the database; prints JSON, exit code 1 when anything is not as it was written.

    Reads the home's own database, or the one in KNOWGATE_DATABASE_URL, and nothing else but the evidence.
    """
    # Commands that only ask a gateway should not wait for the database's libraries.
    from services.cli.audit.evidence import find_evidence  # noqa: PLC0415
    from shared.auth.settings import AuditSettings  # noqa: PLC0415

    place = Home(home.absolute())
    evidence = find_evidence(place, AuditSettings(), files=checkpoints or (), keys=public_key or (), with_stream=stream)
    with remarks().status("Verifying the audit") as status:
        report = anyio.run(_verify, place, evidence, status)
    answers().print(report.to_json().decode(), markup=False)
    if report.fault_count:
        raise typer.Exit(FAILED)


@audit.command("key")
def key(home: HomeOption = USUAL_HOME) -> None:
    """Print the public key by which this gateway's checkpoints are verified elsewhere."""
    from services.cli.audit.evidence import public_key  # noqa: PLC0415 - as above
    from shared.auth.settings import AuditSettings  # noqa: PLC0415

    answers().print(public_key(Home(home.absolute()), AuditSettings()).rstrip(), markup=False)


@audit.command("tail")
def tail(
    home: HomeOption = USUAL_HOME,
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, max=MOST_AUDIT_ENTRIES, help="How many.")] = 20,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes, until Ctrl-C.")] = False,
) -> None:
    """Show the last entries of the tenant's audit."""
    anyio.run(_tail, find_access(home, CliSettings()), lines, follow)


@audit.command("export")
def export(
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write: one JSON object a line.")],
    home: HomeOption = USUAL_HOME,
    after: Annotated[int, typer.Option(min=0, help="Begin behind this place of the chain.")] = 0,
) -> None:
    """Write the tenant's audit up to now into a file; one that is there is replaced when all has been read."""
    written = anyio.run(_export, find_access(home, CliSettings()), output, after)
    remarks().print(f"{written} entries in {output}", markup=False)


async def _verify(place: Home, evidence: "Evidence", status: Status) -> "Report":
    from services.cli.audit.verifying import verify_audit  # noqa: PLC0415 - as above
    from services.cli.launcher.databases import database_settings  # noqa: PLC0415

    def tell(what: str, count: int) -> None:
        status.update(f"Verifying the audit: {count} {what}")

    return await verify_audit(database_settings(place), evidence, tell=tell)


async def _tail(access: Access, lines: int, follow: bool) -> None:
    console = answers()
    async with opened(access) as client:
        page = await client.operating.read_audit(limit=max(1, lines), latest=True)
        for entry in page.entries[len(page.entries) - lines :]:
            console.print(_line(entry), markup=False)
        if not follow:
            return
        async with aclosing(entries_as_they_come(client.operating, page.last_seq, anyio.sleep)) as entries:
            async for entry in entries:
                console.print(_line(entry), markup=False)


async def _export(access: Access, output: Path, after: int) -> int:
    draft = output.with_name(f".{output.name}.draft")
    count = 0
    try:
        async with opened(access) as client, aclosing(entries_up_to_now(client.operating, after)) as entries:
            with draft.open("wb") as file, remarks().status("Exporting the audit") as status:
                async for entry in entries:
                    file.write(entry.to_json() + b"\n")
                    count += 1
                    status.update(f"Exporting the audit: {count} entries")
        draft.replace(output)
    finally:
        draft.unlink(missing_ok=True)
    return count


def _line(entry: AuditEntry) -> str:
    """One entry for people; a time to the millisecond, in UTC."""
    who = entry.subject or entry.actor
    about = " ".join(part for part in (entry.resource_type, entry.resource_id) if part)
    moved = f"{entry.before or '-'} > {entry.after}" if entry.after else ""
    told = f"{entry.at:%Y-%m-%d %H:%M:%S}.{entry.at.microsecond // 1000:03d}"
    parts = (f"{entry.seq:>7}", told, f"{entry.outcome:<8}", who, entry.action, about, moved)
    return "  ".join(part for part in parts if part)
