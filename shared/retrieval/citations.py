"""Citations: opaque and stateless. An id seals the version and the place, bound to the tenant."""

from dataclasses import dataclass

from shared.auth.sealing import Sealer, SealKind
from shared.contracts.ids import TenantId, VersionId
from shared.providers.ports import Place

MAX_PLACE_BYTES = 100
"""What a place may take of a citation id, so that the id stays within 256 characters."""

_SEPARATOR = "|"


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedPlace:
    """What a citation stands for."""

    version_id: VersionId
    place: Place


def seal_citation(sealer: Sealer, tenant: TenantId, cited: CitedPlace) -> str:
    """The citation id of a place; the same place has the same id while the key is current."""
    place = cited.place
    packed = _SEPARATOR.join((str(place.start), str(place.end), place.chunk or "")).encode()
    if len(packed) > MAX_PLACE_BYTES:
        raise ValueError("the place takes more bytes than a citation has room for")
    return sealer.seal(SealKind.CITATION, cited.version_id.encode() + b"\0" + packed, tenant.encode())


def open_citation(sealer: Sealer, tenant: TenantId, citation_id: str) -> CitedPlace:
    """What a citation id stands for; NotFound when it is not one of this tenant's."""
    version, _, packed = sealer.open(SealKind.CITATION, citation_id, tenant.encode()).partition(b"\0")
    start, end, chunk = packed.decode().split(_SEPARATOR, 2)
    return CitedPlace(
        version_id=VersionId(version.decode()),
        place=Place(start=int(start), end=int(end), chunk=chunk or None),
    )
