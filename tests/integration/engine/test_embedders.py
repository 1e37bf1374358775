"""The embedder's processes: fair, replaced when they die, honest when they cannot be had."""

import asyncio
import os
import signal

import pytest

from shared.domain.errors import ProviderUnavailable
from shared.providers.embedded.children import embedder_pool
from shared.providers.embedded.children.embedder_pool import EmbedderPool
from tests.integration.engine.running import children
from tests.support.children import wait_until_gone


async def test_texts_get_the_same_vectors_alone_and_together(embedder: EmbedderPool) -> None:
    texts = [f"Sentence number {number} about bearings, 轴承润滑。" for number in range(50)]
    told: list[int] = []

    together = await embedder.embed(texts, told.append)
    alone = await asyncio.gather(*(embedder.embed([text]) for text in texts))

    assert [len(vector) for vector in together] == [embedder.dimensions] * 50
    assert len(set(together)) == 50
    # Sums of floats in another order may round to a neighbouring step.
    assert max(difference(one, both) for (one,), both in zip(alone, together, strict=True)) <= 1
    assert told == sorted(told)
    assert told[-1] == 50


def difference(one: bytes, other: bytes) -> int:
    """The largest difference of two int8 vectors in one dimension."""
    return max(abs((a ^ 128) - (b ^ 128)) for a, b in zip(one, other, strict=True))


async def test_a_page_does_not_wait_behind_a_book(embedder: EmbedderPool) -> None:
    order: list[str] = []

    async def embed(name: str, count: int) -> None:
        await embedder.embed([f"{name} {number} " * 40 for number in range(count)])
        order.append(name)

    book = asyncio.create_task(embed("book", 300))
    await asyncio.sleep(0)
    await embed("page", 1)
    await book

    assert order == ["page", "book"]


async def test_an_embedder_that_dies_is_replaced_and_its_texts_are_embedded() -> None:
    others = set(children(embedder_pool.MODULE))
    pool = EmbedderPool(size=1)
    try:
        (expected,) = await pool.embed(["bearing grease"])
        (victim,) = set(children(embedder_pool.MODULE)) - others
        os.kill(victim, signal.SIGKILL)
        wait_until_gone(victim)

        assert await pool.embed(["bearing grease"]) == [expected]
    finally:
        await pool.close()


async def test_embedders_that_cannot_start_fail_their_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder_pool, "MODULE", "shared.no_such_module")
    pool = EmbedderPool(size=1)
    try:
        with pytest.raises(ProviderUnavailable):
            await pool.embed(["word"])
    finally:
        await pool.close()


async def test_closing_fails_what_still_waits() -> None:
    pool = EmbedderPool(size=1)
    waiting = asyncio.create_task(pool.embed(["word"] * 500))
    await asyncio.sleep(0.05)

    await pool.close()

    with pytest.raises(ProviderUnavailable):
        await waiting
