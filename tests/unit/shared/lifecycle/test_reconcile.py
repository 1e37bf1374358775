"""What is put right by whom."""

from shared.contracts.enums import FindingKind
from shared.lifecycle.reconcile import REPAIRS


def test_of_every_kind_of_finding_it_is_settled_whether_it_is_repaired() -> None:
    assert set(REPAIRS) == set(FindingKind)
    assert {kind for kind, repair in REPAIRS.items() if repair is None} == {
        FindingKind.OVERDUE_OPERATION,
        FindingKind.FOREIGN_PROVIDER_DOCUMENT,
        FindingKind.MISSING_OBJECT,
    }
