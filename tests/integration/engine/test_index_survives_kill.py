"""A writer killed in the middle of its work leaves an index that is whole."""

import random
import subprocess
import sys
import time
from pathlib import Path

import apsw

from shared.providers.embedded.index.reader import IndexReader
from shared.providers.embedded.index.writer import IndexWriter
from shared.providers.ports import IngestState
from tests.integration.engine.small_digests import DIMENSIONS, EMBEDDER

ROOT = Path(__file__).parents[3]
KILLS = 6


def test_kill_9_in_a_write_leaves_no_half_document(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    chance = random.Random(9)

    for kill in range(KILLS):
        kill_a_writer(path, kill, chance.uniform(0.02, 0.2))
        check_whole(path)


def kill_a_writer(path: Path, seed: int, seconds: float) -> None:
    module = "tests.integration.engine.index_writing_child"
    with subprocess.Popen([sys.executable, "-m", module, path, str(seed)], cwd=ROOT, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"writing\n"
        time.sleep(seconds)
        child.kill()
    assert child.returncode == -9


def check_whole(path: Path) -> None:
    # The next writer opens it without repair.
    IndexWriter(path, embedder=EMBEDDER, dimensions=DIMENSIONS).close()
    connection = apsw.Connection(str(path))
    assert connection.pragma("integrity_check") == "ok"
    connection.execute("INSERT INTO words(words) VALUES('integrity-check')")
    per_document = connection.execute(
        "SELECT d.id, d.chunks, d.characters, (SELECT count(*) FROM chunk c WHERE c.document = d.id), "
        "(SELECT count(*) FROM chunk c JOIN words w ON w.rowid = c.id WHERE c.document = d.id), "
        "(SELECT coalesce(sum(length(v.embeddings)), 0) / ? FROM vectors v WHERE v.document = d.id), "
        "(SELECT coalesce(sum(length(b.text)), 0) FROM text_block b WHERE b.document = d.id) FROM document d",
        (DIMENSIONS,),
    ).fetchall()
    for _, chunks, characters, rows, words, vectors, letters in per_document:
        assert rows == words == vectors == chunks
        assert letters == characters
    totals = connection.execute("SELECT (SELECT count(*) FROM chunk), (SELECT count(*) FROM words), chunks FROM space")
    assert len(set(totals.fetchall()[0])) == 1
    connection.close()

    reader = IndexReader(path, embedder=EMBEDDER)
    for document in reader.list_documents("1"):
        if document.state is not IngestState.DONE:
            continue
        text = reader.read_text(document.native_id, 0, document.characters)
        # All sentences of one document come from one round.
        assert len({line.split(" of ")[1] for line in text.splitlines()}) <= 1
    reader.close()
