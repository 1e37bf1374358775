"""What the lines of `knowgate operations follow` say."""

from datetime import UTC, datetime

import pytest

from services.cli.commands.operations import told
from shared.contracts.enums import ResourceType
from shared.contracts.transition_events import TransitionEvent


@pytest.mark.parametrize(
    ("action", "before", "after", "line"),
    [
        ("SPACE_DISABLE", "ACTIVE", "DISABLED", "      7  07:08:09  SPACE      spc_1  ACTIVE > DISABLED"),
        ("space.creating", None, "CREATING", "      7  07:08:09  SPACE      spc_1  CREATING"),
        ("SPACE_UPDATE", "ACTIVE", "ACTIVE", "      7  07:08:09  SPACE      spc_1  ACTIVE  SPACE_UPDATE"),
    ],
)
def test_a_change_that_is_none_of_status_names_its_action(
    action: str, before: str | None, after: str, line: str
) -> None:
    event = TransitionEvent(
        seq=7,
        at=datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC),
        action=action,
        resource_type=ResourceType.SPACE,
        resource_id="spc_1",
        before=before,
        after=after,
    )

    assert told(event) == line
