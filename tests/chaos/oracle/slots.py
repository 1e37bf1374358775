"""One provider document per version; what is active was verified; at most one candidate."""

from collections import defaultdict
from collections.abc import Iterator

from tests.chaos.oracle.world import Held, Version, World

SERVING = frozenset({"ACTIVE", "DISABLED"})
"""Documents with an active version."""
SETTLED = frozenset({"READY", "RETIRED", "DELETED"})
"""Versions that are no candidates."""


def several_documents(world: World) -> Iterator[str]:
    """More than one provider document of a version."""
    for version_id, held in _by_version(world).items():
        if len(held) > 1:
            yield f"the provider holds {sorted(one.native_id for one in held)} of version {version_id}"


def unverified_active(world: World) -> Iterator[str]:
    """An active version that is not a verified READY version of its document."""
    held = {one.native_id: one for one in world.held}
    for document in world.documents.values():
        version = world.versions.get(document.active_version_id or "")
        where = f"document {document.id} ({document.status}) of {document.tenant}"
        if document.status not in SERVING:
            continue
        if version is None:
            yield f"{where} has no active version: {document.active_version_id}"
        elif version.document_id != document.id or version.tenant != document.tenant:
            yield f"{where} serves version {version.id} of {version.document_id} of {version.tenant}"
        elif version.status != "READY" or version.native_id is None or not version.chunks:
            yield f"{where} serves {version.id}, {version.status}, {version.native_id}, {version.chunks} chunks"
        elif not _is_good(held.get(version.native_id), version):
            yield f"{where} serves {version.id}; the provider has {held.get(version.native_id)}"


def several_candidates(world: World) -> Iterator[str]:
    """A version on its way, failed or cancelled, that does not stand in its document's slot, or one too many READY."""
    for version in world.versions.values():
        document = world.documents.get(version.document_id)
        if document is None:
            yield f"version {version.id} is of no document: {version.document_id}"
        elif version.status not in SETTLED and document.candidate_version_id != version.id:
            yield f"{version.id} is {version.status}; the slot of {document.id} holds {document.candidate_version_id}"
        elif version.status == "READY" and document.active_version_id != version.id:
            yield f"{version.id} is READY; {document.id} ({document.status}) serves {document.active_version_id}"
    for document in world.documents.values():
        slot = document.candidate_version_id
        candidate = world.versions.get(slot or "")
        if slot is not None and (candidate is None or candidate.document_id != document.id):
            yield f"the slot of {document.id} holds {slot}, which is no version of it"
        elif candidate is not None and candidate.status in {"READY", "RETIRED"}:
            yield f"the slot of {document.id} holds {slot}, which is {candidate.status}"


def _by_version(world: World) -> dict[str, list[Held]]:
    held: defaultdict[str, list[Held]] = defaultdict(list)
    for one in world.held:
        held[one.version_id].append(one)
    return held


def _is_good(held: Held | None, version: Version) -> bool:
    return (
        held is not None
        and (held.version_id, held.space_id) == (version.id, version.space_id)
        and held.is_done
        and held.chunks > 0
    )
