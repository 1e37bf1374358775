"""What a download link holds: who may fetch which version until when. Sealed, so that nobody can read or change it."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Self

from shared.auth.sealing import Sealer, SealKind
from shared.contracts.ids import DocumentId, SubjectId, TenantId, VersionId
from shared.contracts.retrieval import DOWNLOAD_SECONDS
from shared.domain.errors import InvalidInput, NotFound
from shared.domain.identity import Caller

LONGEST_TOKEN: Final = 3500
"""Characters; an address may have 4096, and the rest of it needs room too."""

LIFE: Final = timedelta(seconds=DOWNLOAD_SECONDS)
_ASSOCIATED: Final = b"download"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A right to fetch. What its bearer belongs to is not in it: that is looked up when it is used."""

    tenant: TenantId
    subject: SubjectId
    session_id: str
    service: str
    document_id: DocumentId
    version_id: VersionId
    expires_at: datetime

    @classmethod
    def of(cls, caller: Caller, document_id: DocumentId, version_id: VersionId, now: datetime) -> Self:
        """A ticket in the caller's name, good for a minute."""
        return cls(
            tenant=caller.tenant,
            subject=caller.subject,
            session_id=caller.session_id,
            service=caller.service,
            document_id=document_id,
            version_id=version_id,
            expires_at=now + LIFE,
        )

    @property
    def issued_at(self) -> datetime:
        """When the ticket was made."""
        return self.expires_at - LIFE

    @property
    def bearer(self) -> Caller:
        """Whom the ticket was made for, as far as it tells."""
        return Caller(tenant=self.tenant, subject=self.subject, session_id=self.session_id, service=self.service)

    def seal(self, sealer: Sealer) -> str:
        """The ticket as the last part of an address."""
        bearer = [self.tenant, self.subject, self.session_id, self.service]
        content = [*bearer, self.document_id, self.version_id, self.expires_at.isoformat()]
        written = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
        token = sealer.seal(SealKind.DOWNLOAD, written, _ASSOCIATED)
        if len(token) > LONGEST_TOKEN:
            raise InvalidInput("Your name and your session's are longer than a link has room for.")
        return token

    @classmethod
    def open(cls, token: str, sealer: Sealer, now: datetime) -> Self:
        """The ticket; NotFound when it was not made here, was changed, or has expired."""
        content: list[str] = json.loads(sealer.open(SealKind.DOWNLOAD, token, _ASSOCIATED))
        tenant, subject, session_id, service, document_id, version_id, expires = content
        ticket = cls(
            tenant=TenantId(tenant),
            subject=SubjectId(subject),
            session_id=session_id,
            service=service,
            document_id=DocumentId(document_id),
            version_id=VersionId(version_id),
            expires_at=datetime.fromisoformat(expires),
        )
        if now >= ticket.expires_at:
            raise NotFound
        return ticket
