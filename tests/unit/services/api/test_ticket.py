"""Download tickets: sealed, short-lived, and no longer than an address may be."""

import secrets
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from services.api.downloads.ticket import LONGEST_TOKEN, Ticket
from shared.auth.sealing import Sealer, SealKind
from shared.contracts.ids import DocumentId, SubjectId, TenantId, VersionId
from shared.domain.errors import InvalidInput, NotFound
from shared.domain.identity import Caller

NOW = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
SEALER = Sealer([b"k" * 64])
CALLER = Caller(
    tenant=TenantId("acme"),
    subject=SubjectId("alice"),
    groups=("staff", "größe"),
    roles=("knowledge-reader",),
    domains=("general",),
    session_id="session-1",
    service="harness",
)
TICKET = Ticket(
    caller=CALLER,
    document_id=DocumentId("doc_1"),
    version_id=VersionId("ver_1"),
    expires_at=NOW + timedelta(seconds=60),
)


def test_a_ticket_is_opened_as_it_was_sealed() -> None:
    assert Ticket.open(TICKET.seal(SEALER), SEALER, NOW) == TICKET


def test_a_ticket_is_over_when_its_minute_is() -> None:
    token = TICKET.seal(SEALER)

    Ticket.open(token, SEALER, NOW + timedelta(seconds=59.999))
    with pytest.raises(NotFound):
        Ticket.open(token, SEALER, NOW + timedelta(seconds=60))


def test_a_ticket_of_another_key_or_another_kind_is_none() -> None:
    with pytest.raises(NotFound):
        Ticket.open(TICKET.seal(Sealer([b"x" * 64])), SEALER, NOW)
    with pytest.raises(NotFound):
        Ticket.open(SEALER.seal(SealKind.CITATION, b"payload", b"download"), SEALER, NOW)


def test_a_caller_of_many_groups_still_fits() -> None:
    groups = tuple(f"department-{number}" for number in range(300))

    token = replace(TICKET, caller=replace(CALLER, groups=groups)).seal(SEALER)

    assert len(token) <= LONGEST_TOKEN
    assert Ticket.open(token, SEALER, NOW).caller.groups == groups


def test_a_caller_of_more_groups_than_fit_is_told_so() -> None:
    groups = tuple(secrets.token_hex(16) for _ in range(200))

    with pytest.raises(InvalidInput, match="more groups"):
        replace(TICKET, caller=replace(CALLER, groups=groups)).seal(SEALER)
