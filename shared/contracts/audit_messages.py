"""What is published of the audit: every entry in its place of the chain, and signed checkpoints of the chains' ends."""

import json
from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue

from shared.contracts.enums import ResourceType
from shared.contracts.ids import TenantId
from shared.contracts.text import SHA256_HEX
from shared.contracts.wire import ExactTime, Maybe, Wire

Sha256 = Annotated[str, Field(pattern=SHA256_HEX)]
PreviousHash = Annotated[str, Field(pattern=f"{SHA256_HEX}|^$")]
"""Empty at the first link of a chain."""

PURPOSE: Final = "knowgate audit checkpoint"
"""Part of what is signed, so that the key's signature of anything else is never taken for a checkpoint."""


class EntrySealed(Wire):
    """An audit entry has its place in its chain."""

    kind: Literal["EntrySealed"] = "EntrySealed"
    schema_version: Literal[1] = 1
    chain: str
    """The tenant, or `system` for what is no tenant's."""
    seq: int = Field(ge=1)
    entry_id: str
    tenant_id: Maybe[TenantId] = None
    at: ExactTime
    actor: str
    service: Maybe[str] = None
    subject: Maybe[str] = None
    session_id: Maybe[str] = None
    tool_call_id: Maybe[str] = None
    request_id: Maybe[str] = None
    trace_id: Maybe[str] = None
    action: str
    resource_type: Maybe[ResourceType] = None
    resource_id: Maybe[str] = None
    operation_id: Maybe[str] = None
    parent_operation_id: Maybe[str] = None
    idempotency_digest: Maybe[str] = None
    before: Maybe[str] = None
    after: Maybe[str] = None
    outcome: str
    details: dict[str, JsonValue]
    content_hash: Sha256
    prev_hash: PreviousHash
    hash: Sha256


class CheckpointSigned(Wire):
    """Where a chain ended at a moment, signed by whoever held the key: what is cut off or rewritten later shows."""

    kind: Literal["CheckpointSigned"] = "CheckpointSigned"
    schema_version: Literal[1] = 1
    chain: str
    seq: int = Field(ge=1)
    hash: Sha256
    at: ExactTime
    key_id: str
    signature: str
    """Ed25519 over `signed_bytes`, in base64url without padding."""

    def signed_bytes(self) -> bytes:
        """What is signed: all fields but the signature and the purpose, as JSON with sorted keys and no space."""
        told = self.model_dump(mode="json", exclude={"signature"})
        text = json.dumps({**told, "purpose": PURPOSE}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return text.encode()


AuditMessage = Annotated[EntrySealed | CheckpointSigned, Field(discriminator="kind")]
