"""The audit as messages: each entry under its place, and none too large for a broker."""

import pytest

from shared.contracts.ids import TenantId
from shared.messaging.audit_codec import audit_message, place_of, read_audit_message
from tests.contract.messages.samples import audit_messages

SMALLEST_BROKER_LIMIT = 1_048_576
"""Bytes; what a server takes that nobody has set otherwise."""


def test_an_entry_is_known_by_its_chain_and_its_place() -> None:
    message = audit_message(audit_messages()["EntrySealed: of nobody"])

    assert message.subject == "knowgate.audit.xpc6mypba3dnzwg4nxiymrkmf7"
    assert message.message_id == message.headers["ce-id"] == "xpc6mypba3dnzwg4nxiymrkmf7.1"
    assert message.headers["ce-source"] == "/knowgate/projector"


def test_a_checkpoint_is_known_by_what_it_is_of() -> None:
    message = audit_message(audit_messages()["CheckpointSigned"])

    assert message.message_id.endswith(".checkpoint.7")
    assert message.headers["ce-type"] == "com.knowgate.CheckpointSigned.v1"


@pytest.mark.parametrize(
    ("message_id", "place"), [("abc.12", 12), ("abc.checkpoint.7", 7), ("nonsense", 0), ("abc.x", 0), (None, 0)]
)
def test_the_place_is_read_from_the_message_id(message_id: str | None, place: int) -> None:
    assert place_of(message_id) == place


def test_what_is_no_message_of_the_audit_is_none() -> None:
    assert read_audit_message(b'{"kind":"Other"}') is None
    assert read_audit_message(b"\xff") is None


def test_an_entry_of_which_all_is_as_long_as_it_may_be_fits_into_a_message() -> None:
    """The longest text of a caller is a reason; ids are cut where they come from outside."""
    longest = "\U0001f642" * 256
    entry = audit_messages()["EntrySealed"].model_copy(
        update={
            "chain": longest,
            "tenant_id": TenantId(longest),
            "subject": longest,
            "session_id": longest,
            "service": longest,
            "tool_call_id": longest,
            "request_id": longest,
            "resource_id": longest,
            "details": {"reason": "\U0001f642" * 2000, "documents": ",".join([longest] * 8)},
        }
    )

    assert len(audit_message(entry).body) < SMALLEST_BROKER_LIMIT / 20
