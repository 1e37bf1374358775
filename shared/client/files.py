"""Files of any size to and from the gateway, piece by piece: none is ever held whole."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final
from urllib.parse import quote

import httpx

from shared.client.errors import ContentChanged
from shared.client.exchange import Exchange
from shared.client.resumable import OpenContent, send_resumably
from shared.contracts.envelope import Envelope
from shared.contracts.files import FILE_GET, FILE_NAME, FILE_UPLOAD, FileResource
from shared.contracts.ids import FileResourceId
from shared.contracts.retrieval import DownloadLink

FILE_TYPE: Final = "application/octet-stream"
"""The gateway tells what a file is from its content."""

RESUMABLE_ABOVE: Final = 64 * 1024**2
"""Bytes; a smaller file is sent again from the beginning for less than asking how much of it has arrived."""


class Files:
    """Uploads and downloads in one caller's name."""

    def __init__(self, exchange: Exchange, *, resumable_above: int = RESUMABLE_ABOVE) -> None:
        """Files of more bytes than `resumable_above` go up in pieces."""
        self._exchange = exchange
        self._resumable_above = resumable_above

    async def upload(self, name: str, open_content: OpenContent, *, size: int) -> FileResource:
        """Send a file of `size` bytes; a document can be made of the answer within a day.

        While the gateway fails for a while a small file is sent again from the beginning, a large one goes on where it
        was interrupted. What nobody uses of either expires.
        """
        if size > self._resumable_above:
            return await self.get(await send_resumably(self._exchange, name, open_content, size=size))
        return await self._upload_at_once(name, open_content, size)

    async def get(self, resource_id: FileResourceId) -> FileResource:
        """A file that the caller has uploaded, until it expires."""
        ids = {"fileResourceId": resource_id}
        return (await self._exchange.ask(FILE_GET, Envelope[FileResource], ids=ids)).data

    async def _upload_at_once(self, name: str, open_content: OpenContent, size: int) -> FileResource:
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

    def download(self, link: DownloadLink) -> AsyncGenerator[bytes, None]:
        """The file behind a link, piece by piece. The link is all that it takes; nothing says who is asking."""
        request = self._exchange.http.build_request("GET", link.download_url)
        return self._exchange.pieces(request, httpx.codes.OK, "GET download link", as_caller=False)


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
