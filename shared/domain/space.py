"""A knowledge space: its states and the moves it makes."""

from dataclasses import dataclass, replace
from datetime import datetime

from shared.contracts.commands import ProviderProfile
from shared.contracts.enums import SpaceStatus
from shared.contracts.ids import SpaceId, SubjectId, TenantId
from shared.domain.errors import Conflict, OperationPending, SpaceBusy, SpaceDisabled, SpaceNotFound, StaleSpace
from shared.domain.transitions import Table, move

SPACE_MOVES: Table[SpaceStatus] = {
    SpaceStatus.CREATING: frozenset({SpaceStatus.ACTIVE, SpaceStatus.CREATE_FAILED}),
    SpaceStatus.ACTIVE: frozenset({SpaceStatus.DISABLED, SpaceStatus.DELETING}),
    SpaceStatus.DISABLED: frozenset({SpaceStatus.ACTIVE, SpaceStatus.DELETING}),
    SpaceStatus.CREATE_FAILED: frozenset({SpaceStatus.CREATING, SpaceStatus.DELETING}),
    SpaceStatus.DELETING: frozenset({SpaceStatus.DELETED, SpaceStatus.DELETE_FAILED}),
    SpaceStatus.DELETE_FAILED: frozenset({SpaceStatus.DELETING}),
    SpaceStatus.DELETED: frozenset(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """One knowledge space. `lock_version` starts at 1; `native_id` is null until it is provisioned."""

    id: SpaceId
    tenant_id: TenantId
    code: str
    name: str
    description: str | None
    profile: ProviderProfile
    security_domain: str
    status: SpaceStatus
    lock_version: int
    native_id: str | None
    created_by: SubjectId
    created_at: datetime
    updated_at: datetime

    def moved(self, status: SpaceStatus, now: datetime) -> "Space":
        """The space in another status."""
        return replace(self, status=move(SPACE_MOVES, self.status, status), updated_at=now)

    def provisioned(self, native_id: str, now: datetime) -> "Space":
        """The space with its provider side made. Only a space being created moves to ACTIVE."""
        space = replace(self, native_id=native_id, updated_at=now)
        return space.moved(SpaceStatus.ACTIVE, now) if self.status is SpaceStatus.CREATING else space


def require_open(space: Space) -> None:
    """Refuse mutations of what is in a space that is not ACTIVE, with the error that tells why."""
    if space.status is SpaceStatus.CREATING:
        raise OperationPending("The space is still being created. Wait until it is ACTIVE.")
    if space.status is SpaceStatus.DISABLED:
        raise SpaceDisabled
    if space.status is SpaceStatus.DELETED:
        raise SpaceNotFound
    if space.status is not SpaceStatus.ACTIVE:
        raise Conflict("The space could not be created or is being deleted. It cannot be changed any more.")


def require_current_space(space: Space, expected_version: int) -> None:
    """Refuse a change made from an old reading."""
    if space.lock_version != expected_version:
        raise StaleSpace(f"The space is at version {space.lock_version}, not {expected_version}. Read it again.")


def described_space(space: Space, name: str | None, description: str | None, now: datetime) -> Space:
    """The space with what was given of a name and a description; an empty description clears it."""
    return replace(
        space,
        name=space.name if name is None else name,
        description=space.description if description is None else description or None,
        lock_version=space.lock_version + 1,
        updated_at=now,
    )


DELETABLE = frozenset({SpaceStatus.ACTIVE, SpaceStatus.DISABLED, SpaceStatus.CREATE_FAILED, SpaceStatus.DELETE_FAILED})
"""In the others something runs on the space."""


def deleting_space(space: Space, now: datetime) -> Space:
    """The space on its way out. What is in it is for others to look at."""
    if space.status is SpaceStatus.DELETED:
        raise SpaceNotFound
    if space.status not in DELETABLE:
        raise SpaceBusy
    return replace(space.moved(SpaceStatus.DELETING, now), lock_version=space.lock_version + 1)


def switched_space(space: Space, enabled: bool, now: datetime) -> Space:
    """The space enabled or disabled; unchanged if it is so already."""
    if space.status is SpaceStatus.DELETED:
        raise SpaceNotFound
    if space.status not in {SpaceStatus.ACTIVE, SpaceStatus.DISABLED}:
        raise Conflict("Only a space that has been created and is not being deleted can be enabled or disabled.")
    wanted = SpaceStatus.ACTIVE if enabled else SpaceStatus.DISABLED
    if space.status is wanted:
        return space
    return replace(space.moved(wanted, now), lock_version=space.lock_version + 1)
