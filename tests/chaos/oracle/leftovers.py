"""Queues are empty, nothing is on its way, and provider and object store hold what is needed and nothing else."""

from collections.abc import Iterator
from typing import Final

from tests.chaos.oracle.slots import SERVING
from tests.chaos.oracle.world import ENDS, FAILED, World

KEPT_SPACES: Final = frozenset({"ACTIVE", "DISABLED"})
GONE_SPACES: Final = frozenset({"DELETED"})
MOVING: Final = frozenset({"CREATING", "DELETING"})
"""Spaces and documents that an operation is to lead on."""
WORKED_ON: Final = frozenset({"CREATED", "UPLOADING", "UPLOADED", "INGESTING"})
"""Versions that an operation is to lead on."""


def leftovers(world: World) -> Iterator[str]:
    """See the module."""
    for queue, waiting in world.waiting.items():
        for one in waiting:
            yield f"{queue}: {one} is left"
    yield from _on_their_way(world)
    yield from _at_provider(world)
    yield from _spaces(world)
    yield from _files(world)


def _on_their_way(world: World) -> Iterator[str]:
    """What no operation leads on any more, and that has not arrived; a delete that failed leaves its document so."""
    led = {
        resource_id
        for operation in world.operations.values()
        if operation.status not in ENDS
        for resource_id in (operation.space_id, operation.document_id, operation.version_id)
    }
    going = _failed_deletes(world)
    for space in world.spaces.values():
        if space.status in MOVING and space.id not in led:
            yield f"space {space.id} is still {space.status}"
    for document in world.documents.values():
        if document.status in MOVING and document.id not in led | going:
            yield f"document {document.id} is still {document.status}"
    for version in world.versions.values():
        document_of = world.documents.get(version.document_id)
        if version.status in WORKED_ON and version.id not in led and version.document_id not in going:
            yield f"version {version.id} is still {version.status}"
        elif version.status != "DELETED" and document_of is not None and document_of.status == "DELETED":
            yield f"version {version.id} is {version.status}; its document {document_of.id} is DELETED"


def _at_provider(world: World) -> Iterator[str]:
    needed, allowed = set[str](), set[str]()
    going = _failed_deletes(world)
    for version in world.versions.values():
        document = world.documents.get(version.document_id)
        if document is None:
            continue
        if version.status == "READY" and document.active_version_id == version.id and document.status in SERVING:
            needed.add(version.id)
        if (version.status == FAILED and document.candidate_version_id == version.id) or document.id in going:
            allowed.add(version.id)
    there = {held.version_id for held in world.held}
    for version_id in sorted(needed - there):
        yield f"the provider holds nothing of version {version_id}, which is served"
    for held in world.held:
        if held.version_id not in needed | allowed:
            status = world.versions[held.version_id].status if held.version_id in world.versions else "unknown"
            yield f"the provider still holds {held.native_id} of version {held.version_id}, which is {status}"


def _failed_deletes(world: World) -> set[str]:
    """Documents whose delete failed and that are not gone."""
    failed = {
        operation.document_id
        for operation in world.operations.values()
        if operation.type == "DOCUMENT_DELETE" and operation.status == FAILED
    }
    return {document.id for document in world.documents.values() if document.status == "DELETING"} & failed


def _spaces(world: World) -> Iterator[str]:
    for space in world.spaces.values():
        if space.status in KEPT_SPACES and space.id not in world.held_spaces:
            yield f"the provider does not hold space {space.id}, which is {space.status}"
        if space.status in GONE_SPACES and space.id in world.held_spaces:
            yield f"the provider still holds space {space.id}, which is {space.status}"
    for space_id in sorted(world.held_spaces - world.spaces.keys()):
        yield f"the provider holds space {space_id}, which nobody knows"


def _files(world: World) -> Iterator[str]:
    named = {version.file_id for version in world.versions.values() if version.status != "DELETED"}
    yield from (f"file {file_id} is not there, and a version names it" for file_id in sorted(named - _ids(world)))
    for file in world.files:
        if file.object_key not in world.objects:
            yield f"file {file.id} ({file.status}) has no object {file.object_key}"
        if file.status != "LIVE":
            yield f"file {file.id} is still {file.status}"
        elif file.id not in named and not file.has_resource:
            yield f"file {file.id} is LIVE, and neither a version nor an uploader names it"
    unknown = world.objects - {file.object_key for file in world.files}
    if len(unknown) > world.interrupted_uploads:
        yield f"{len(unknown)} objects are nobody's after {world.interrupted_uploads} uploads that broke off: {unknown}"


def _ids(world: World) -> set[str]:
    return {file.id for file in world.files}
