"""What a download link holds: who may fetch which version until when. Sealed, so that nobody can read or change it."""

import json
import zlib
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from shared.auth.sealing import Sealer, SealKind
from shared.contracts.ids import DocumentId, SubjectId, TenantId, VersionId
from shared.domain.errors import InvalidInput, NotFound
from shared.domain.identity import Caller

LONGEST_TOKEN: Final = 3500
"""Characters; an address may have 4096, and the rest of it needs room too."""
LONGEST_PAYLOAD: Final = 64 * 1024
"""Bytes that an opened ticket may unpack to: no more than an assertion can say of its bearer."""

_ASSOCIATED: Final = b"download"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A right to fetch, checked against current grants and the active version when it is used."""

    caller: Caller
    document_id: DocumentId
    version_id: VersionId
    expires_at: datetime

    def seal(self, sealer: Sealer) -> str:
        """The ticket as the last part of an address."""
        caller = self.caller
        content = [
            [caller.tenant, caller.subject, caller.session_id, caller.service],
            [caller.groups, caller.roles, caller.domains],
            [self.document_id, self.version_id, self.expires_at.isoformat()],
        ]
        packed = zlib.compress(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(), 9)
        token = sealer.seal(SealKind.DOWNLOAD, packed, _ASSOCIATED)
        if len(token) > LONGEST_TOKEN:
            raise InvalidInput("You belong to more groups, roles and security domains than a link has room for.")
        return token

    @classmethod
    def open(cls, token: str, sealer: Sealer, now: datetime) -> Self:
        """The ticket; NotFound when it was not made here, was changed, or has expired."""
        packed = sealer.open(SealKind.DOWNLOAD, token, _ASSOCIATED)
        content = json.loads(zlib.decompressobj().decompress(packed, LONGEST_PAYLOAD))
        (tenant, subject, session_id, service), (groups, roles, domains), (document_id, version_id, expires) = content
        ticket = cls(
            caller=Caller(
                tenant=TenantId(tenant),
                subject=SubjectId(subject),
                groups=tuple(groups),
                roles=tuple(roles),
                domains=tuple(domains),
                session_id=session_id,
                service=service,
            ),
            document_id=DocumentId(document_id),
            version_id=VersionId(version_id),
            expires_at=datetime.fromisoformat(expires),
        )
        if now >= ticket.expires_at:
            raise NotFound
        return ticket
