"""A nats-server shared by a whole test run, emptied between the tests that use it."""

import asyncio

import nats


def remove_streams(url: str) -> None:
    """Remove every stream, and with them every consumer and bucket, from the server at `url`."""
    asyncio.run(_remove_streams(url))


async def _remove_streams(url: str) -> None:
    connection = await nats.connect(url)
    try:
        streams = connection.jsm()
        for stream in await streams.streams_info():
            if stream.config.name is not None:
                await streams.delete_stream(stream.config.name)
    finally:
        await connection.close()
