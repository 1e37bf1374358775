"""Starts one parser and one embedder, prints their process ids and waits to be killed."""

import asyncio
import sys
from pathlib import Path

from shared.contracts.content_types import ContentType
from shared.providers.embedded.children.embedder_pool import EmbedderPool
from shared.providers.embedded.children.parser_pool import ParserPool
from shared.providers.embedded.limits import DigestLimits
from tests.integration.engine.running import children


async def main(file: Path) -> None:
    """Use each pool once, so that its child stands."""
    parsers, embedder = ParserPool(size=1, limits=DigestLimits()), EmbedderPool(size=1)
    await parsers.parse(file, ContentType.TEXT, lambda percent: None)
    await embedder.embed(["word"])
    sys.stdout.write(" ".join(map(str, children())) + "\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
