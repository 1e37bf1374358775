"""The audit's chains verify, every entry is in one, and every change of a status has an entry."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from tests.chaos.oracle.world import AuditLink, World


def gaps_in_audit(world: World) -> Iterator[str]:
    """See the module."""
    yield from (f"audit entry {entry} is in no chain" for entry in world.unchained)
    chains: defaultdict[str, list[AuditLink]] = defaultdict(list)
    for link in world.links:
        chains[link.chain].append(link)
    places = Counter(link.entry_id for link in world.links)
    yield from (f"audit entry {entry} is {times} times in the chains" for entry, times in places.items() if times > 1)
    for chain, links in chains.items():
        yield from _broken(chain, sorted(links, key=lambda link: link.seq))
    yield from _untold(world)


def _broken(chain: str, links: list[AuditLink]) -> Iterator[str]:
    before = ""
    for place, link in enumerate(links, start=1):
        where = f"chain {chain}, link {link.seq}, entry {link.entry_id}"
        if link.seq != place:
            yield f"{where}: {place} should come here"
            return
        if link.stored_content != link.actual_content:
            yield f"{where}: the entry is not what it was"
        wanted = hashlib.sha256(f"{before}:{link.seq}:{link.actual_content}".encode()).hexdigest()
        if link.prev_hash != before or link.hash != wanted:
            yield f"{where}: the hash is {link.hash} after {link.prev_hash} and should be {wanted} after {before}"
        before = link.hash


def _untold(world: World) -> Iterator[str]:
    """Entries of a thing lead from nothing to what it is now: for each status as many lead to it as away from it.

    That holds in whatever order they stand, and it does not when one is missing or one too many.
    """
    balance: defaultdict[tuple[str, str], Counter[str | None]] = defaultdict(Counter)
    for transition in world.transitions:
        if transition.before != transition.after:
            steps = balance[transition.resource_type, transition.resource_id]
            steps[transition.after] += 1
            steps[transition.before] -= 1
    for (resource_type, resource_id), status in _present(world).items():
        steps = balance[resource_type, resource_id]
        left = {state: count for state, count in steps.items() if count}
        if left != {status: 1, None: -1}:
            yield f"{resource_type} {resource_id} is {status}; its audit entries leave {left}"


def _present(world: World) -> Mapping[tuple[str, str], str]:
    return {
        **{("SPACE", space.id): space.status for space in world.spaces.values()},
        **{("DOCUMENT", document.id): document.status for document in world.documents.values()},
        **{("VERSION", version.id): version.status for version in world.versions.values()},
        **{("OPERATION", operation.id): operation.status for operation in world.operations.values()},
    }
