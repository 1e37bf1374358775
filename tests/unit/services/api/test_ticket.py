"""Download tickets: sealed, short-lived, and no longer than an address may be."""

import json
import zlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import cast

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
    subject=SubjectId("größe"),
    groups=("staff",),
    roles=("knowledge-reader",),
    domains=("general",),
    session_id="session-1",
    service="harness",
)
TICKET = Ticket.of(CALLER, DocumentId("doc_1"), VersionId("ver_1"), NOW)


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


def test_a_ticket_in_a_format_that_is_read_no_more_is_none() -> None:
    content = json.dumps(["acme", "u1", "session-1", "harness", "doc_1", "ver_1", "2031-05-06T07:09:09+00:00"])
    token = SEALER.seal(cast("SealKind", 2), zlib.compress(content.encode()), b"download")

    with pytest.raises(NotFound):
        Ticket.open(token, SEALER, NOW)


def test_a_ticket_tells_whom_it_was_made_for_and_not_what_they_belong_to() -> None:
    opened = Ticket.open(TICKET.seal(SEALER), SEALER, NOW)

    assert opened.bearer == replace(CALLER, groups=(), roles=(), domains=())
    assert (opened.issued_at, opened.expires_at) == (NOW, NOW + timedelta(seconds=60))


def test_the_longest_names_still_fit() -> None:
    longest = replace(CALLER, tenant=TenantId("中" * 256), subject=SubjectId("中" * 256), session_id="s" * 256)

    token = Ticket.of(longest, DocumentId("doc_1"), VersionId("ver_1"), NOW).seal(SEALER)

    assert len(token) <= LONGEST_TOKEN
    assert Ticket.open(token, SEALER, NOW).bearer.subject == "中" * 256


def test_names_longer_than_an_address_are_told() -> None:
    with pytest.raises(InvalidInput, match="longer than a link"):
        replace(TICKET, service="s" * 4000).seal(SEALER)
