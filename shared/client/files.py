"""Files of any size to and from the gateway, piece by piece: none is ever held whole."""

from collections.abc import AsyncIterator, Callable
from typing import Final
from urllib.parse import quote

import httpx

from shared.client.errors import ContentChanged, Unreachable
from shared.client.exchange import Exchange, failure_of
from shared.contracts.envelope import Envelope
from shared.contracts.files import FILE_NAME, FILE_UPLOAD, FileResource
from shared.contracts.retrieval import DownloadLink

FILE_TYPE: Final = "application/octet-stream"
"""The gateway tells what a file is from its content."""

OpenContent = Callable[[], AsyncIterator[bytes]]
"""Gives the content from its beginning, each time it is called."""


class Files:
    """Uploads and downloads in one caller's name."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    async def upload(self, name: str, open_content: OpenContent, *, size: int) -> FileResource:
        """Send a file of `size` bytes; a document can be made of the answer within a day.

        Sent again from the beginning while the gateway fails for a while: an upload that nobody uses expires.
        """
        headers = self._exchange.call_headers() | {
            "Content-Type": FILE_TYPE,
            "Content-Length": str(size),
            FILE_NAME: quote(name, safe=""),
        }

        async def once() -> Envelope[FileResource]:
            content = _exactly(open_content(), size)
            request = self._exchange.http.build_request(
                FILE_UPLOAD.method, FILE_UPLOAD.path, content=content, headers=headers
            )
            return await self._exchange.once(request, Envelope[FileResource], FILE_UPLOAD.success_status)

        return (await self._exchange.repeat(once)).data

    async def download(self, link: DownloadLink) -> AsyncIterator[bytes]:
        """The file behind a link, piece by piece. The link is all that it takes; nothing says who is asking."""
        request = self._exchange.http.build_request("GET", link.download_url)
        response = await self._exchange.send(request, stream=True)
        try:
            if not response.is_success:
                await response.aread()
                raise failure_of(response, "GET download link")
            async for piece in response.aiter_bytes():
                yield piece
        except httpx.TransportError as error:
            raise Unreachable(str(request.url.host), str(error) or type(error).__name__) from error
        finally:
            await response.aclose()


async def _exactly(pieces: AsyncIterator[bytes], size: int) -> AsyncIterator[bytes]:
    """The pieces, if they are of the size that was announced; `ContentChanged` otherwise."""
    total = 0
    async for piece in pieces:
        total += len(piece)
        if total > size:
            raise ContentChanged
        yield piece
    if total < size:
        raise ContentChanged
