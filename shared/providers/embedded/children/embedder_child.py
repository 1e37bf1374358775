"""An embedder: holds the bundled model and turns lists of texts into vectors until its parent closes the pipe."""

import sys

import orjson

from shared.providers.embedded.children.framing import pack, read_frame
from shared.providers.embedded.children.sandbox import die_with_parent, take_pipes
from shared.providers.embedded.embedding import BundledModel


def main(arguments: list[str]) -> None:
    """Serve the parent whose pid is the only argument."""
    die_with_parent(int(arguments[0]))
    requests, replies = take_pipes()
    model = BundledModel()
    while (frame := read_frame(requests)) is not None:
        rest = memoryview(pack(b"", model.embed(orjson.loads(frame[0]))))
        while rest:
            rest = rest[replies.write(rest) or 0 :]


if __name__ == "__main__":
    main(sys.argv[1:])
