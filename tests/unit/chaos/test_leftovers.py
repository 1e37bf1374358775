"""Queues that are not empty, things that never arrived, and what provider and object store lack or hold too much."""

from dataclasses import replace

import pytest

from tests.chaos.oracle.world import World
from tests.unit.chaos.worlds import (
    DELETE,
    DOCUMENT,
    FILE,
    GONE_DOCUMENT,
    GONE_VERSION,
    HELD,
    SPACE,
    VERSION,
    a_world,
    broken,
    complaints,
    moved,
    with_document,
    with_space,
    with_version,
)

SOUND = a_world()
BROKEN = {"nothing_left"}
CANDIDATE = replace(VERSION, id="ver_3", status="FAILED", native_id="nat_3")
HELD_CANDIDATE = replace(HELD, version_id="ver_3", native_id="nat_3")


def with_candidate(status: str) -> World:
    """With a second version of the first document, which stands in its slot and has something at the provider."""
    return replace(
        with_version(replace(CANDIDATE, status=status), "CREATED", status),
        documents={**SOUND.documents, "doc_1": replace(DOCUMENT, candidate_version_id="ver_3")},
        held=(HELD, HELD_CANDIDATE),
    )


def with_failed_delete(document_status: str, version_status: str) -> World:
    """The second document's delete failed; something of it is still at the provider, and its file."""
    statuses = ("CREATED", "READY") if version_status == "READY" else ("CREATED", "READY", version_status)
    world = with_version(replace(GONE_VERSION, status=version_status), *statuses)
    document = ("CREATING", "ACTIVE", "DELETING", "DELETED")[: 3 if document_status == "DELETING" else 4]
    kept = [one for one in world.transitions if one.resource_id not in {"doc_2", "op_3"}]
    return replace(
        world,
        operations={**SOUND.operations, "op_3": replace(DELETE, status="FAILED")},
        documents={**SOUND.documents, "doc_2": replace(GONE_DOCUMENT, status=document_status)},
        transitions=(
            *kept,
            *moved("DOCUMENT", "doc_2", *document),
            *moved("OPERATION", "op_3", "PENDING", "RUNNING", "FAILED"),
        ),
        told=(*SOUND.told[:-1], replace(SOUND.told[-1], after="FAILED")),
        held=(HELD, replace(HELD, version_id="ver_2", native_id="nat_2")),
        files=(FILE, replace(FILE, id="fil_2", object_key="objects/2", has_resource=True)),
        objects=frozenset({"objects/1", "objects/2"}),
    )


@pytest.mark.parametrize("queue", ["outbox", "purge", "broker"])
def test_a_queue_that_is_not_empty_is_told(queue: str) -> None:
    world = a_world(waiting={**SOUND.waiting, queue: ("one", "two")})
    assert broken(world) == BROKEN
    assert complaints(world) == [f"{queue}: one is left", f"{queue}: two is left"]


@pytest.mark.parametrize("status", ["CREATING", "DELETING"])
def test_a_space_that_never_arrived_is_told(status: str) -> None:
    world = replace(with_space(replace(SPACE, id="spc_2", status=status), status))
    assert broken(world) == BROKEN
    assert complaints(world) == [f"space spc_2 is still {status}"]


@pytest.mark.parametrize("status", ["CREATING", "DELETING"])
def test_a_document_that_never_arrived_is_told(status: str) -> None:
    world = with_document(replace(GONE_DOCUMENT, status=status), status)
    assert broken(world) == BROKEN
    assert complaints(world) == [f"document doc_2 is still {status}"]


@pytest.mark.parametrize("status", ["CREATED", "UPLOADING", "UPLOADED", "INGESTING"])
def test_a_version_that_never_arrived_is_told(status: str) -> None:
    world = replace(with_candidate("CANCELLED"), held=(HELD,))
    assert complaints(world) == []
    stuck = replace(
        world,
        versions={**world.versions, "ver_3": replace(CANDIDATE, status=status)},
        transitions=(*SOUND.transitions, *moved("VERSION", "ver_3", status)),
    )
    assert broken(stuck) == BROKEN
    assert complaints(stuck) == [f"version ver_3 is still {status}"]


def test_what_an_operation_still_leads_on_is_told_by_the_operation_alone() -> None:
    world = with_document(replace(GONE_DOCUMENT, status="DELETING"), "CREATING", "ACTIVE", "DELETING")
    kept = [one for one in world.transitions if one.resource_id != "op_3"]
    running = replace(
        world,
        operations={**SOUND.operations, "op_3": replace(DELETE, status="RUNNING")},
        transitions=(*kept, *moved("OPERATION", "op_3", "PENDING", "RUNNING")),
        told=SOUND.told[:-1],
    )
    assert broken(running) == {"one_terminal_state"}


def test_a_version_that_outlived_its_document_is_told() -> None:
    world = replace(with_version(replace(GONE_VERSION, status="READY", file_id="fil_1"), "CREATED", "READY"))
    assert broken(world) == BROKEN
    assert complaints(world) == ["version ver_2 is READY; its document doc_2 is DELETED"]


def test_what_the_provider_lacks_of_an_active_version_is_told() -> None:
    world = a_world(held=())
    assert broken(world) == {"nothing_left", "active_is_verified"}
    assert "the provider holds nothing of version ver_1, which is served" in complaints(world)


def test_what_the_provider_holds_of_a_version_that_nobody_knows_is_told() -> None:
    world = a_world(held=(HELD, replace(HELD, version_id="ver_9", native_id="nat_9")))
    assert broken(world) == BROKEN
    assert complaints(world) == ["the provider still holds nat_9 of version ver_9, which is unknown"]


def test_what_the_provider_holds_of_a_deleted_version_is_told() -> None:
    world = a_world(held=(HELD, replace(HELD, version_id="ver_2", native_id="nat_2")))
    assert broken(world) == BROKEN
    assert complaints(world) == ["the provider still holds nat_2 of version ver_2, which is DELETED"]


def test_what_the_provider_holds_of_a_failed_candidate_is_needed_and_of_a_cancelled_one_is_told() -> None:
    assert complaints(with_candidate("FAILED")) == []
    world = with_candidate("CANCELLED")
    assert broken(world) == BROKEN
    assert complaints(world) == ["the provider still holds nat_3 of version ver_3, which is CANCELLED"]


def test_a_failed_delete_may_leave_what_it_could_not_remove() -> None:
    assert complaints(with_failed_delete("DELETING", "READY")) == []
    assert complaints(with_failed_delete("DELETING", "RETIRED")) == []


def test_what_is_left_once_the_document_of_a_failed_delete_is_gone_is_told() -> None:
    world = with_failed_delete("DELETED", "DELETED")
    assert broken(world) == BROKEN
    assert complaints(world) == ["the provider still holds nat_2 of version ver_2, which is DELETED"]


@pytest.mark.parametrize("status", ["ACTIVE", "DISABLED"])
def test_a_space_that_the_provider_lacks_is_told(status: str) -> None:
    statuses = ("CREATING", "ACTIVE", "DISABLED")[: 2 if status == "ACTIVE" else 3]
    world = with_space(replace(SPACE, id="spc_2", status=status), *statuses)
    assert broken(world) == BROKEN
    assert complaints(world) == [f"the provider does not hold space spc_2, which is {status}"]


def test_a_deleted_space_that_the_provider_still_holds_is_told() -> None:
    deleted = with_space(replace(SPACE, id="spc_2", status="DELETED"), "CREATING", "ACTIVE", "DELETING", "DELETED")
    assert complaints(deleted) == []
    world = replace(deleted, held_spaces=frozenset({"spc_1", "spc_2"}))
    assert broken(world) == BROKEN
    assert complaints(world) == ["the provider still holds space spc_2, which is DELETED"]


@pytest.mark.parametrize("status", ["CREATE_FAILED", "DELETE_FAILED"])
def test_a_space_whose_creation_or_delete_failed_may_be_there_or_not(status: str) -> None:
    world = with_space(replace(SPACE, id="spc_2", status=status), "CREATING", status)
    assert complaints(world) == []
    assert complaints(replace(world, held_spaces=frozenset({"spc_1", "spc_2"}))) == []


def test_a_space_that_nobody_knows_is_told() -> None:
    world = a_world(held_spaces=frozenset({"spc_1", "spc_9"}))
    assert broken(world) == BROKEN
    assert complaints(world) == ["the provider holds space spc_9, which nobody knows"]


def test_a_file_without_its_object_is_told() -> None:
    world = a_world(objects=frozenset())
    assert broken(world) == BROKEN
    assert complaints(world) == ["file fil_1 (LIVE) has no object objects/1"]


def test_a_version_without_its_file_is_told() -> None:
    world = a_world(files=(), objects=frozenset())
    assert broken(world) == BROKEN
    assert complaints(world) == ["file fil_1 is not there, and a version names it"]


def test_a_file_that_is_still_being_removed_is_told() -> None:
    world = a_world(
        files=(FILE, replace(FILE, id="fil_2", object_key="objects/2", status="PURGING")),
        objects=frozenset({"objects/1", "objects/2"}),
    )
    assert broken(world) == BROKEN
    assert complaints(world) == ["file fil_2 is still PURGING"]


def test_a_file_that_nobody_names_is_told_unless_its_uploader_may() -> None:
    unnamed = replace(FILE, id="fil_2", object_key="objects/2")
    objects = frozenset({"objects/1", "objects/2"})
    assert complaints(a_world(files=(FILE, replace(unnamed, has_resource=True)), objects=objects)) == []
    world = a_world(files=(FILE, unnamed), objects=objects)
    assert broken(world) == BROKEN
    assert complaints(world) == ["file fil_2 is LIVE, and neither a version nor an uploader names it"]


def test_objects_are_nobodys_only_as_many_as_uploads_broke_off() -> None:
    objects = frozenset({"objects/1", "objects/2"})
    assert complaints(a_world(objects=objects, interrupted_uploads=1)) == []
    world = a_world(objects=objects)
    assert broken(world) == BROKEN
    assert complaints(world)[0].startswith("1 objects are nobody's after 0 uploads that broke off: ")
