"""What a space looks like over HTTP."""

from shared.contracts.ids import SpaceId
from shared.contracts.spaces import PROFILE_CODE, SpaceCreated, SpaceOperationAccepted, SpaceUpdated
from shared.contracts.spaces import Space as SpaceBody
from shared.domain.space import Space
from shared.domain.work import Work


def space_body(space: Space) -> SpaceBody:
    """The space as it is read."""
    is_contracts = space.profile.profile_code == PROFILE_CODE
    return SpaceBody(
        space_id=SpaceId(space.id),
        code=space.code,
        name=space.name,
        description=space.description,
        profile_code=PROFILE_CODE if is_contracts else None,
        default_security_domain_code=space.security_domain,
        status=space.status,
        version=space.lock_version,
    )


def space_created(space: Space) -> SpaceCreated:
    """The space as it is answered at once; the contract allows these five fields alone."""
    return SpaceCreated(
        space_id=space.id, code=space.code, name=space.name, status=space.status, version=space.lock_version
    )


def space_updated(space: Space) -> SpaceUpdated:
    """The space after an update; the contract leaves its code out."""
    return SpaceUpdated(
        space_id=space.id,
        name=space.name,
        description=space.description,
        status=space.status,
        version=space.lock_version,
    )


def space_accepted(work: Work) -> SpaceOperationAccepted:
    """What is answered to work on the space itself that was taken on."""
    return SpaceOperationAccepted(space_id=work.space.id, operation_id=work.operation.id, status=work.operation.status)
