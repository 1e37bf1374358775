"""Writes, replaces and deletes documents without end until it is killed: ``index_writing_child <index> <seed>``."""

import random
import sys
from pathlib import Path

from shared.providers.embedded.index.writer import IndexWriter
from tests.integration.engine.small_digests import DIMENSIONS, EMBEDDER, digest


def main(path: Path, seed: int) -> None:
    """Print a line once the first document stands, then go on."""
    chance = random.Random(seed)
    writer = IndexWriter(path, embedder=EMBEDDER, dimensions=DIMENSIONS)
    space = writer.create_space("one")
    for round_number in range(sys.maxsize):
        name = f"document {chance.randrange(12)}"
        native_id = writer.create_document(space, name, object_key="k", sha256="ab" * 32, content_type="text/plain")
        if chance.random() < 0.1:
            writer.delete_document(native_id)
        else:
            sentences = [f"Sentence {n} of round {seed} {round_number}." for n in range(chance.randrange(1, 60))]
            writer.replace_content(native_id, digest(*sentences))
        if round_number == 0:
            sys.stdout.write("writing\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
