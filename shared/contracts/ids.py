"""Identifiers: what each one names, and the composed form of command and event ids."""

import base64
import hashlib
from dataclasses import dataclass
from typing import NewType, Self

from shared.contracts.enums import Step

TenantId = NewType("TenantId", str)
SubjectId = NewType("SubjectId", str)
SpaceId = NewType("SpaceId", str)
DocumentId = NewType("DocumentId", str)
VersionId = NewType("VersionId", str)
OperationId = NewType("OperationId", str)
PurgeId = NewType("PurgeId", str)
FileId = NewType("FileId", str)
FileResourceId = NewType("FileResourceId", str)
UploadId = NewType("UploadId", str)
EventId = NewType("EventId", str)
LetterId = NewType("LetterId", str)
ReconciliationId = NewType("ReconciliationId", str)

TENANT_TOKEN_LENGTH = 26


def tenant_token(tenant: TenantId) -> str:
    """The tenant as one subject token: the first 26 characters of lower-case base32 of its SHA-256.

    Tenant ids come from outside and may hold ``.``, ``*`` or ``>``, which mean something in a subject.
    """
    digest = hashlib.sha256(tenant.encode()).digest()
    return base64.b32encode(digest).decode().lower()[:TENANT_TOKEN_LENGTH]


@dataclass(frozen=True, slots=True)
class CommandId:
    """``<owner>.<step>.<attempt>.<issue>``.

    `attempt` grows with a counted retry, `issue` when the same attempt is issued again without
    counting (a deploy, a lost broker). Both start at 1. Owner ids hold no dot.
    """

    owner: str
    step: Step
    attempt: int
    issue: int

    def __str__(self) -> str:
        return f"{self.owner}.{self.step.value}.{self.attempt}.{self.issue}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the composed form; ValueError if it is not one."""
        owner, step, attempt, issue = text.split(".")
        return cls(owner, Step(step), int(attempt), int(issue))

    def event(self, run: str, number: int) -> EventId:
        """The id of the `number`-th event that one delivery (`run`) of this command reports."""
        return EventId(f"{self}.{run}.{number}")
