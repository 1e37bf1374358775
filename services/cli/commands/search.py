"""`knowgate search`."""

import textwrap
from typing import Annotated

import anyio
import typer
from rich.console import Console
from rich.markup import escape

from services.cli.access import Access, find_access, opened
from services.cli.commands.options import USUAL_HOME, HomeOption, SpaceOption
from services.cli.console import answers
from services.cli.settings import CliSettings
from services.cli.spaces import require_space
from shared.contracts.retrieval import MAX_HITS, RetrievalHit, RetrievalMatches, RetrievalRequest, RetrievalResult

SHOWN = 600


def search(
    query: Annotated[str, typer.Argument(help="What is looked for.")],
    space: SpaceOption,
    home: HomeOption = USUAL_HOME,
    limit: Annotated[int, typer.Option(min=1, max=MAX_HITS, help="How many hits at most.")] = 5,
) -> None:
    """Search a space and show the evidence with its citations."""
    found = anyio.run(_search, find_access(home, CliSettings()), query, space, limit)
    console = answers()
    if not isinstance(found, RetrievalMatches):
        console.print("Nothing relevant was found among what you may see.")
        return
    for number, hit in enumerate(found.hits, 1):
        _show(console, number, hit)


async def _search(access: Access, query: str, code: str, limit: int) -> RetrievalResult:
    async with opened(access) as client:
        space = await require_space(client.gateway, code)
        request = RetrievalRequest(query=query, knowledge_space_ids=(space.space_id,), limit=limit)
        return await client.gateway.search(request)


def _show(console: Console, number: int, hit: RetrievalHit) -> None:
    page = "" if hit.page is None else f", page {hit.page}"
    console.print(f"[bold]{number}. {escape(hit.document_name)}[/]{page}  [dim]score {hit.score:.3f}[/]")
    if hit.chapter_path:
        console.print(f"   [dim]{escape(' › '.join(hit.chapter_path))}[/]")
    shortened = hit.content if len(hit.content) <= SHOWN else f"{hit.content[:SHOWN]}…"
    console.print(textwrap.indent(shortened, "   "), markup=False)
    console.print(f"   [dim]citation {escape(hit.citation_id)}[/]\n")
