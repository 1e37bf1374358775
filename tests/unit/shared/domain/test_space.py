"""What a space allows a caller to ask for."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from shared.contracts.commands import ProviderKind, ProviderProfile
from shared.contracts.enums import SpaceStatus
from shared.contracts.ids import SpaceId, SubjectId, TenantId
from shared.domain.errors import Conflict, OperationPending, SpaceBusy, SpaceDisabled, SpaceNotFound, StaleSpace
from shared.domain.space import (
    Space,
    deleting_space,
    described_space,
    require_current_space,
    require_open,
    switched_space,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = datetime(2026, 3, 1, 13, tzinfo=UTC)

SPACE = Space(
    id=SpaceId("spc_1"),
    tenant_id=TenantId("acme"),
    code="manuals",
    name="Manuals",
    description="All of them.",
    profile=ProviderProfile(kind=ProviderKind.SCRIPTED, profile_code="enterprise-long-document"),
    security_domain="internal",
    status=SpaceStatus.ACTIVE,
    lock_version=3,
    native_id="n-1",
    created_by=SubjectId("ana"),
    created_at=NOW,
    updated_at=NOW,
)

CLOSED = {
    SpaceStatus.CREATING: OperationPending,
    SpaceStatus.DISABLED: SpaceDisabled,
    SpaceStatus.CREATE_FAILED: Conflict,
    SpaceStatus.DELETING: Conflict,
    SpaceStatus.DELETE_FAILED: Conflict,
    SpaceStatus.DELETED: SpaceNotFound,
}


def test_only_an_active_space_is_open() -> None:
    require_open(SPACE)
    assert set(CLOSED) == set(SpaceStatus) - {SpaceStatus.ACTIVE}


@pytest.mark.parametrize(("status", "refusal"), CLOSED.items())
def test_a_space_that_is_not_open_says_why(status: SpaceStatus, refusal: type[Exception]) -> None:
    with pytest.raises(refusal):
        require_open(replace(SPACE, status=status))


def test_a_space_is_changed_only_from_its_current_version() -> None:
    require_current_space(SPACE, 3)
    with pytest.raises(StaleSpace, match="at version 3, not 2"):
        require_current_space(SPACE, 2)


def test_a_description_stays_is_replaced_or_is_cleared() -> None:
    renamed = described_space(SPACE, "Books", None, LATER)
    assert (renamed.name, renamed.description, renamed.lock_version) == ("Books", "All of them.", 4)
    assert renamed.updated_at == LATER
    assert described_space(SPACE, None, "Some.", LATER).description == "Some."
    cleared = described_space(SPACE, None, "", LATER)
    assert (cleared.name, cleared.description) == ("Manuals", None)


def test_a_space_is_disabled_and_enabled_once() -> None:
    disabled = switched_space(SPACE, False, LATER)
    assert (disabled.status, disabled.lock_version) == (SpaceStatus.DISABLED, 4)
    assert switched_space(disabled, False, LATER) is disabled
    enabled = switched_space(disabled, True, LATER)
    assert (enabled.status, enabled.lock_version) == (SpaceStatus.ACTIVE, 5)


@pytest.mark.parametrize("status", set(SpaceStatus) - {SpaceStatus.ACTIVE, SpaceStatus.DISABLED})
def test_a_space_in_any_other_status_is_not_switched(status: SpaceStatus) -> None:
    refusal = SpaceNotFound if status is SpaceStatus.DELETED else Conflict
    for enabled in (False, True):
        with pytest.raises(refusal):
            switched_space(replace(SPACE, status=status), enabled, LATER)


@pytest.mark.parametrize(
    ("status", "refusal"),
    [
        (SpaceStatus.ACTIVE, None),
        (SpaceStatus.DISABLED, None),
        (SpaceStatus.CREATE_FAILED, None),
        (SpaceStatus.DELETE_FAILED, None),
        (SpaceStatus.CREATING, SpaceBusy),
        (SpaceStatus.DELETING, SpaceBusy),
        (SpaceStatus.DELETED, SpaceNotFound),
    ],
)
def test_a_space_is_deleted_when_nothing_runs_on_it(status: SpaceStatus, refusal: type[Exception] | None) -> None:
    space = replace(SPACE, status=status)
    if refusal is not None:
        with pytest.raises(refusal):
            deleting_space(space, LATER)
        return
    after = deleting_space(space, LATER)
    assert (after.status, after.lock_version) == (SpaceStatus.DELETING, 4)
