"""Chains of the audit that do not hold together, entries outside them, and statuses without an entry; and replays."""

from dataclasses import replace

import pytest

from tests.unit.chaos.worlds import (
    FIRST,
    SECOND,
    SPACE,
    THIRD,
    a_world,
    broken,
    complaints,
    linked,
    others,
    step,
)

SOUND = a_world()
BROKEN = {"audit_complete"}


def test_the_order_in_which_links_and_entries_come_is_nothing() -> None:
    assert complaints(a_world(links=(THIRD, FIRST, SECOND))) == []
    assert broken(a_world(transitions=SOUND.transitions[::-1])) == set()


def test_an_entry_in_no_chain_is_told() -> None:
    world = a_world(unchained=("aud_9",))
    assert broken(world) == BROKEN
    assert complaints(world) == ["audit entry aud_9 is in no chain"]


def test_an_entry_that_is_in_the_chains_twice_is_told() -> None:
    world = a_world(links=(FIRST, SECOND, THIRD, linked(1, "", "aud_1", "c1", chain="globex")))
    assert broken(world) == BROKEN
    assert complaints(world) == ["audit entry aud_1 is 2 times in the chains"]


def test_a_chain_that_does_not_begin_with_one_is_told() -> None:
    world = a_world(links=(SECOND, THIRD))
    assert broken(world) == BROKEN
    assert complaints(world) == ["chain acme, link 2, entry aud_2: 1 should come here"]


def test_a_link_that_is_missing_in_the_middle_is_told() -> None:
    world = a_world(links=(FIRST, THIRD))
    assert broken(world) == BROKEN
    assert complaints(world) == ["chain acme, link 3, entry aud_3: 2 should come here"]


def test_a_link_whose_number_is_there_twice_is_told() -> None:
    world = a_world(links=(FIRST, SECOND, replace(SECOND, entry_id="aud_8"), THIRD))
    assert broken(world) == BROKEN


def test_an_entry_that_was_changed_is_told_though_its_link_is_as_it_was() -> None:
    world = a_world(links=(FIRST, replace(SECOND, actual_content="c9"), THIRD))
    assert broken(world) == BROKEN
    assert complaints(world)[0] == "chain acme, link 2, entry aud_2: the entry is not what it was"


def test_an_entry_that_was_changed_with_its_stored_hash_is_told_by_the_chain() -> None:
    world = a_world(links=(FIRST, replace(SECOND, actual_content="c9", stored_content="c9"), THIRD))
    assert broken(world) == BROKEN
    assert len(complaints(world)) == 1
    assert complaints(world)[0].startswith("chain acme, link 2, entry aud_2: the hash is ")


def test_a_stored_hash_of_an_entry_that_is_another_is_told() -> None:
    world = a_world(links=(FIRST, replace(SECOND, stored_content="c9"), THIRD))
    assert broken(world) == BROKEN
    assert complaints(world) == ["chain acme, link 2, entry aud_2: the entry is not what it was"]


def test_a_link_that_was_forged_with_its_hash_is_told_by_the_next_one() -> None:
    world = a_world(links=(FIRST, linked(2, FIRST.hash, "aud_2", "c9"), THIRD))
    assert broken(world) == BROKEN
    assert complaints(world)[0].startswith("chain acme, link 3, entry aud_3: the hash is ")


def test_a_link_that_names_another_one_before_it_is_told() -> None:
    world = a_world(links=(FIRST, SECOND, replace(THIRD, prev_hash=FIRST.hash)))
    assert broken(world) == BROKEN
    assert complaints(world)[0].startswith("chain acme, link 3, entry aud_3: the hash is ")


def test_a_chain_that_hangs_on_another_tenants_is_told() -> None:
    world = a_world(links=(*SOUND.links[:3], linked(1, THIRD.hash, "aud_4", "c4", chain="globex")))
    assert broken(world) == BROKEN


@pytest.mark.parametrize(
    ("resource_type", "resource_id", "before", "after"),
    [
        ("SPACE", "spc_1", "CREATING", "ACTIVE"),
        ("DOCUMENT", "doc_2", "DELETING", "DELETED"),
        ("VERSION", "ver_1", None, "CREATED"),
        ("VERSION", "ver_2", "INGESTING", "READY"),
        ("OPERATION", "op_4", "PENDING", "RUNNING"),
    ],
)
def test_a_transition_without_an_entry_is_told(
    resource_type: str, resource_id: str, before: str | None, after: str
) -> None:
    left = [
        one for one in SOUND.transitions if (one.resource_id, one.before, one.after) != (resource_id, before, after)
    ]
    assert len(left) == len(SOUND.transitions) - 1
    world = a_world(transitions=left, answers=())
    assert broken(world) == BROKEN
    assert complaints(world)[0].startswith(f"{resource_type} {resource_id} is ")


def test_an_entry_that_is_there_twice_is_told() -> None:
    world = a_world(transitions=(*SOUND.transitions, step("VERSION", "ver_1", "UPLOADING", "UPLOADED", 2)))
    assert broken(world) == BROKEN
    assert len(complaints(world)) == 1
    assert complaints(world)[0].startswith("VERSION ver_1 is READY; its audit entries leave {")


def test_a_status_that_is_not_where_its_entries_lead_is_told() -> None:
    world = a_world(spaces={"spc_1": replace(SPACE, status="DISABLED")})
    assert broken(world) == BROKEN
    assert complaints(world) == ["SPACE spc_1 is DISABLED; its audit entries leave {None: -1, 'ACTIVE': 1}"]


def test_a_thing_without_any_entry_is_told() -> None:
    world = a_world(transitions=others("op_4"))
    assert "audit_complete" in broken(world)
    assert "OPERATION op_4 is SUCCEEDED; its audit entries leave {}" in complaints(world)


def test_what_applying_events_again_has_changed_is_told() -> None:
    world = a_world(replayed=("document doc_1: ACTIVE became CREATING",))
    assert broken(world) == {"replay_same_state"}
    assert complaints(world) == ["document doc_1: ACTIVE became CREATING"]


def test_a_replay_of_nothing_is_told() -> None:
    world = a_world(replayed_events=0)
    assert broken(world) == {"replay_same_state"}
    assert complaints(world) == ["no event was applied again: there was nothing to compare"]
