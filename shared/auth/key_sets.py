"""An issuer's keys at an address (JWKS): fetched when needed, kept for a while, and never asked for too often."""

import asyncio
import json
from collections.abc import Sequence
from datetime import datetime, timedelta

import httpx

from shared.auth.errors import AuthenticationRefused, RefusalReason
from shared.auth.verification_keys import VerificationKey, read_key_set
from shared.telemetry.stamps import Clock

KEPT_FOR = timedelta(minutes=10)
ASKED_AGAIN_AFTER = timedelta(seconds=15)
"""However many tokens name a key that is not there, the issuer is asked no more often than this."""
LONGEST_ANSWER_BYTES = 256 * 1024
PATIENCE = timedelta(seconds=5)


class RemoteKeys:
    """The keys at one address. While the issuer does not answer, the keys it gave last go on serving."""

    def __init__(self, url: str, *, client: httpx.AsyncClient, clock: Clock) -> None:
        self._url = url
        self._client = client
        self._clock = clock
        self._turn = asyncio.Lock()
        self._keys: tuple[VerificationKey, ...] | None = None
        self._fetched_at: datetime | None = None
        self._asked_at: datetime | None = None

    async def find(self, algorithm: str, key_id: str | None) -> Sequence[VerificationKey]:
        """The fitting keys, fetched anew when the kept ones are old or none of them fits."""
        if self._is_old() or not self._fitting(algorithm, key_id):
            async with self._turn:
                if self._is_old() or not self._fitting(algorithm, key_id):
                    await self._refresh()
        if self._keys is None:
            raise AuthenticationRefused(RefusalReason.KEYS_UNAVAILABLE)
        return self._fitting(algorithm, key_id)

    def _fitting(self, algorithm: str, key_id: str | None) -> list[VerificationKey]:
        return [key for key in self._keys or () if key.fits(algorithm, key_id)]

    def _is_old(self) -> bool:
        return self._fetched_at is None or self._clock() - self._fetched_at >= KEPT_FOR

    async def _refresh(self) -> None:
        now = self._clock()
        if self._asked_at is not None and now - self._asked_at < ASKED_AGAIN_AFTER:
            return
        self._asked_at = now
        try:
            self._keys = read_key_set(await self._fetch())
        except (httpx.HTTPError, ValueError):
            return
        self._fetched_at = now

    async def _fetch(self) -> dict[str, object]:
        """The answer's JSON object; ValueError when it is none, or too long."""
        async with self._client.stream("GET", self._url, timeout=PATIENCE.total_seconds()) as answer:
            answer.raise_for_status()
            body = bytearray()
            async for chunk in answer.aiter_bytes():
                body += chunk
                if len(body) > LONGEST_ANSWER_BYTES:
                    raise ValueError("the key set is too long")
        content = json.loads(body)
        if not isinstance(content, dict):
            raise ValueError("the key set is not an object")
        return content
