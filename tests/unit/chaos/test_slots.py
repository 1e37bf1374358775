"""Provider documents of a version, what is active, and the slot for one candidate."""

from dataclasses import replace

import pytest

from tests.chaos.oracle.world import Held, Version, World
from tests.unit.chaos.worlds import (
    DOCUMENT,
    GONE_VERSION,
    HELD,
    VERSION,
    a_world,
    broken,
    complaints,
    with_document,
    with_version,
)

SOUND = a_world()
CANDIDATE = replace(VERSION, id="ver_3", status="FAILED", native_id="nat_3")


def with_candidate(candidate: Version, *statuses: str, slot: str | None = "ver_3") -> World:
    return replace(
        with_version(candidate, *statuses),
        documents={**SOUND.documents, "doc_1": replace(DOCUMENT, candidate_version_id=slot)},
    )


def test_a_failed_and_a_cancelled_candidate_may_stand_in_the_slot() -> None:
    assert complaints(with_candidate(CANDIDATE, "CREATED", "FAILED")) == []
    assert complaints(with_candidate(replace(CANDIDATE, status="CANCELLED"), "CREATED", "CANCELLED")) == []


def test_two_provider_documents_of_one_version_are_told() -> None:
    world = a_world(held=(HELD, replace(HELD, native_id="nat_8")))
    assert broken(world) == {"one_provider_document"}
    assert complaints(world) == ["the provider holds ['nat_1', 'nat_8'] of version ver_1"]


def test_a_served_document_without_an_active_version_is_told() -> None:
    """The version is over, so that nothing else is wrong."""
    for active in (None, "ver_9"):
        world = replace(
            with_version(replace(VERSION, status="DELETED"), "CREATED", "DELETED"),
            documents={**SOUND.documents, "doc_1": replace(DOCUMENT, active_version_id=active)},
            answers=(),
            held=(),
            files=(),
            objects=frozenset(),
        )
        assert broken(world) == {"active_is_verified"}
        assert complaints(world) == [f"document doc_1 (ACTIVE) of acme has no active version: {active}"]


def test_a_disabled_document_has_to_have_a_good_active_version_as_well() -> None:
    disabled = replace(DOCUMENT, status="DISABLED")
    statuses = ("CREATING", "ACTIVE", "DISABLED")
    good = replace(with_document(disabled, *statuses), answers=())
    assert complaints(good) == []
    assert broken(replace(good, held=(replace(HELD, is_done=False),))) == {"active_is_verified"}


def test_a_document_that_serves_a_version_of_another_one_is_told() -> None:
    other = replace(DOCUMENT, id="doc_3", active_version_id="ver_1")
    world = with_document(other, "CREATING", "ACTIVE")
    assert broken(world) == {"active_is_verified"}
    assert complaints(world) == ["document doc_3 (ACTIVE) of acme serves version ver_1 of doc_1 of acme"]


def test_a_document_that_serves_a_version_of_another_tenant_is_told() -> None:
    world = with_version(replace(VERSION, tenant="globex"))
    assert broken(world) == {"active_is_verified"}
    assert complaints(world) == ["document doc_1 (ACTIVE) of acme serves version ver_1 of doc_1 of globex"]


@pytest.mark.parametrize("chunks", [0, None])
def test_an_active_version_without_chunks_is_told(chunks: int | None) -> None:
    world = with_version(replace(VERSION, chunks=chunks))
    assert broken(world) == {"active_is_verified"}


def test_an_active_version_without_a_provider_document_of_record_is_told() -> None:
    assert broken(with_version(replace(VERSION, native_id=None))) == {"active_is_verified"}


def test_an_active_version_that_is_retired_is_told() -> None:
    retired = replace(VERSION, status="RETIRED")
    world = replace(with_version(retired, "CREATED", "READY", "RETIRED"), held=(), answers=())
    assert broken(world) == {"active_is_verified"}
    assert complaints(world) == ["document doc_1 (ACTIVE) of acme serves ver_1, RETIRED, nat_1, 4 chunks"]


@pytest.mark.parametrize(
    "held",
    [
        replace(HELD, is_done=False),
        replace(HELD, chunks=0),
        replace(HELD, native_id="nat_8"),
        replace(HELD, space_id="spc_2"),
    ],
    ids=["not done", "no chunks", "another one", "in another space"],
)
def test_an_active_version_that_the_provider_does_not_hold_as_it_should_is_told(held: Held) -> None:
    assert broken(a_world(held=(held,))) == {"active_is_verified"}


def test_an_active_version_whose_provider_document_bears_another_name_is_told() -> None:
    """A second document of the version is there, so that the provider does not lack it."""
    misnamed = with_candidate(CANDIDATE, "CREATED", "FAILED")
    world = replace(misnamed, held=(replace(HELD, native_id="nat_8"), replace(HELD, version_id="ver_3")))
    assert broken(world) == {"active_is_verified"}


def test_a_version_of_no_document_is_told() -> None:
    world = with_version(replace(GONE_VERSION, document_id="doc_9"))
    assert broken(world) == {"at_most_one_candidate"}
    assert complaints(world) == ["version ver_2 is of no document: doc_9"]


@pytest.mark.parametrize("status", ["FAILED", "CANCELLED"])
def test_a_failed_or_cancelled_version_outside_the_slot_is_told(status: str) -> None:
    world = with_candidate(replace(CANDIDATE, status=status), "CREATED", status, slot=None)
    assert broken(world) == {"at_most_one_candidate"}
    assert complaints(world) == [f"ver_3 is {status}; the slot of doc_1 holds None"]


def test_a_second_ready_version_is_told() -> None:
    world = with_candidate(replace(CANDIDATE, status="READY"), "CREATED", "READY", slot=None)
    assert broken(world) == {"at_most_one_candidate"}
    assert complaints(world) == ["ver_3 is READY; doc_1 (ACTIVE) serves ver_1"]


@pytest.mark.parametrize("slot", ["ver_9", "ver_2"], ids=["no version", "another document's"])
def test_a_slot_that_holds_no_version_of_its_document_is_told(slot: str) -> None:
    world = with_document(replace(DOCUMENT, candidate_version_id=slot))
    assert broken(world) == {"at_most_one_candidate"}
    assert complaints(world) == [f"the slot of doc_1 holds {slot}, which is no version of it"]


def test_a_slot_that_holds_the_active_version_is_told() -> None:
    world = with_document(replace(DOCUMENT, candidate_version_id="ver_1"))
    assert broken(world) == {"at_most_one_candidate"}
    assert complaints(world) == ["the slot of doc_1 holds ver_1, which is READY"]


def test_a_slot_that_holds_a_retired_version_is_told() -> None:
    world = with_candidate(replace(CANDIDATE, status="RETIRED"), "CREATED", "READY", "RETIRED")
    assert broken(world) == {"at_most_one_candidate"}
    assert complaints(world) == ["the slot of doc_1 holds ver_3, which is RETIRED"]
