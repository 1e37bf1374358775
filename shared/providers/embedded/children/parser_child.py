"""A parser: reads one file after the other until its parent closes the pipe. Started as a module with its limits."""

import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from shared.contracts.enums import FailureReason
from shared.providers.embedded.children.framing import read_frame
from shared.providers.embedded.children.messages import (
    PagesRead,
    Parsed,
    ParseFailed,
    ParseRequest,
    ParserMessage,
    pack_message,
    unpack_request,
)
from shared.providers.embedded.children.sandbox import die_with_parent, limit_resources, peak_memory_bytes, take_pipes
from shared.providers.embedded.chunks import cut_chunks
from shared.providers.embedded.digest import TokenisedChunk, embedded_text
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.limits import MEBIBYTE, DigestLimits
from shared.providers.embedded.normalise import normalise
from shared.providers.embedded.parsers.formats import read_blocks
from shared.providers.embedded.tokens import tokens

WORN_BYTES = 512 * MEBIBYTE
"""A parser that has ever held this much is not kept: the memory would stay with it."""


def main(arguments: list[str]) -> None:
    """Serve the parent whose pid is the first argument, within the limits that the others name."""
    parent, memory_bytes, text_characters, chunks = map(int, arguments)
    die_with_parent(parent)
    limit_resources(memory_bytes)
    requests, replies = take_pipes()
    limits = DigestLimits(memory_bytes=memory_bytes, time=timedelta.max, text_characters=text_characters, chunks=chunks)
    while (frame := read_frame(requests)) is not None:
        answer = parse(unpack_request(frame), limits, lambda message: _write(replies.write, message))
        _write(replies.write, replace(answer, is_worn=peak_memory_bytes() > WORN_BYTES))


def parse(request: ParseRequest, limits: DigestLimits, tell: Callable[[PagesRead], None]) -> Parsed | ParseFailed:
    """Read one file to its chunks; whatever goes wrong with it is an answer."""
    try:
        blocks = read_blocks(Path(request.path), request.content_type, _Percent(tell).report)
        document = normalise(blocks, max_characters=limits.text_characters)
        chunks = cut_chunks(document, max_chunks=limits.chunks)
        text = document.text
        return Parsed(
            text=text,
            chunks=tuple(TokenisedChunk(chunk=c, tokens=" ".join(tokens(embedded_text(text, c)))) for c in chunks),
        )
    except DigestFailed as failure:
        return ParseFailed(reason=failure.reason, detail=failure.detail)
    except (MemoryError, RecursionError) as error:
        return ParseFailed(reason=FailureReason.FILE_TOO_COMPLEX, detail=type(error).__name__)
    except FileNotFoundError:
        return ParseFailed(reason=FailureReason.FILE_MISSING, detail="")
    except Exception as error:  # noqa: BLE001 - the edge of the child: a parser's bug is that file's failure
        return ParseFailed(reason=FailureReason.PARSER_CRASHED, detail=_place(error))


def _place(error: Exception) -> str:
    """Where a bug is, without the words of the error: they may hold the file's content."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace is not None else ""
    return type(error).__name__ + where


class _Percent:
    """Turns pages into percent and tells each figure once."""

    def __init__(self, tell: Callable[[PagesRead], None]) -> None:
        self._tell = tell
        self._told = 0

    def report(self, done: int, total: int) -> None:
        percent = 100 * done // max(1, total)
        if percent > self._told:
            self._told = percent
            self._tell(PagesRead(percent=percent))


def _write(write: Callable[[memoryview], int | None], message: ParserMessage) -> None:
    rest = memoryview(pack_message(message))
    while rest:
        rest = rest[write(rest) or 0 :]


if __name__ == "__main__":
    main(sys.argv[1:])
