"""Queues are empty, and provider and object store hold what is needed and nothing else."""

from collections.abc import Iterator
from typing import Final

from tests.chaos.oracle.world import FAILED, World

KEPT_SPACES: Final = frozenset({"ACTIVE", "DISABLED"})
GONE_SPACES: Final = frozenset({"DELETED"})
LIVE_VERSIONS: Final = frozenset({"READY", "FAILED"})
"""They keep their file: they are served, or may be tried again."""


def leftovers(world: World) -> Iterator[str]:
    """See the module."""
    for queue, waiting in world.waiting.items():
        for one in waiting:
            yield f"{queue}: {one} is left"
    yield from _at_provider(world)
    yield from _spaces(world)
    yield from _files(world)


def _at_provider(world: World) -> Iterator[str]:
    needed, allowed = set[str](), set[str]()
    going = {operation.document_id for operation in world.operations.values() if _is_failed_delete(operation.id, world)}
    for version in world.versions.values():
        document = world.documents.get(version.document_id)
        if document is None:
            continue
        if version.status == "READY" and document.active_version_id == version.id:
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


def _is_failed_delete(operation_id: str, world: World) -> bool:
    operation = world.operations[operation_id]
    return operation.type == "DOCUMENT_DELETE" and operation.status == FAILED


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
