"""Compares the chains with signed checkpoints: what was cut off or rewritten since shows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final

from services.cli.audit.chains import Tell
from services.cli.audit.report import FaultKind, Findings
from shared.auth.checkpoint_file import CheckpointFile, Unreadable
from shared.auth.checkpoints import CheckpointVerifier, Verdict
from shared.contracts.audit_messages import CheckpointSigned
from shared.database.audit_verification import hashes_at
from shared.database.database import Database

PAGE: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpointed:
    """Chains in a database, and what checkpoints say of them. Without `verifier` signatures are not looked at."""

    database: Database
    verifier: CheckpointVerifier | None
    findings: Findings
    tell: Tell

    async def verify_file(self, file: CheckpointFile) -> None:
        """Look at every line of a file."""
        lines = file.read()
        while page := list(islice(lines, PAGE)):
            await self.compare(self._readable(file, page))

    async def compare(self, checkpoints: Sequence[CheckpointSigned]) -> None:
        """Look at some checkpoints. They were read before the chains are, which only grow."""
        genuine = [checkpoint for checkpoint in checkpoints if self._is_genuine(checkpoint)]
        places = {(checkpoint.chain, checkpoint.seq) for checkpoint in genuine}
        hashes = await self.database.read(partial(hashes_at, places=places))
        for checkpoint in genuine:
            found = hashes.get((checkpoint.chain, checkpoint.seq))
            add = partial(self.findings.add, chain=checkpoint.chain, seq=checkpoint.seq)
            when = f"when a checkpoint was signed at {checkpoint.at.isoformat()}"
            if found is None:
                add(FaultKind.CHAIN_CUT, f"A link was here {when}, and is not there any more.")
            elif found != checkpoint.hash:
                add(FaultKind.CHAIN_REWRITTEN, f"The link here had another hash {when}.")
        self.findings.checkpoints += len(checkpoints)
        self.tell("checkpoints", self.findings.checkpoints)

    def _readable(
        self, file: CheckpointFile, lines: Iterable[tuple[int, CheckpointSigned | Unreadable]]
    ) -> list[CheckpointSigned]:
        readable = []
        for number, line in lines:
            if isinstance(line, CheckpointSigned):
                readable.append(line)
            elif line.is_torn:
                self.findings.remarks.append(f"The last line of {file.path} is torn, as a crash leaves it.")
            else:
                self.findings.add(FaultKind.CHECKPOINT_UNREADABLE, f"Line {number} of {file.path} is no checkpoint.")
        return readable

    def _is_genuine(self, checkpoint: CheckpointSigned) -> bool:
        verdict = Verdict.GENUINE if self.verifier is None else self.verifier.judge(checkpoint)
        add = partial(self.findings.add, chain=checkpoint.chain, seq=checkpoint.seq)
        if verdict is Verdict.FORGED:
            add(FaultKind.CHECKPOINT_FORGED, "The signature of the checkpoint is not of what it says.")
        elif verdict is Verdict.UNKNOWN_KEY:
            add(FaultKind.CHECKPOINT_OF_UNKNOWN_KEY, f"No key {checkpoint.key_id} was given.")
        return verdict is Verdict.GENUINE
