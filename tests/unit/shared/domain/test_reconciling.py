"""What is found wrong, and what is left alone although it looks so."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.contracts.enums import DocumentStatus, FindingKind, FindingOutcome, OperationStatus, VersionStatus
from shared.contracts.ids import CommandId, OperationId, TenantId, VersionId
from shared.contracts.operating import MOST_FINDINGS, Finding
from shared.domain.purge import PurgeStatus
from shared.domain.reconciling import (
    Difference,
    Mended,
    SeenDocument,
    Standing,
    Tally,
    are_too_many,
    overdue,
    shown,
    why_missing,
    why_unneeded,
)
from shared.domain.unfinished import LiveWorkers, OpenCommand, Unfinished, explain
from tests.integration.database.samples import NOW, a_document, a_purge, a_version, an_operation

LATER = NOW + timedelta(minutes=5)
NATIVE = "native-ver_1"
SERVED = Standing(version=a_version(), document=a_document())
HELD = {NATIVE: SeenDocument(native_id=NATIVE, name="ver_1.pdf", version_id=VersionId("ver_1"), is_served=True)}


def of_version(**changes: Any) -> Standing:
    return replace(SERVED, version=a_version(**changes))


def test_a_document_that_bears_the_name_of_no_version_is_unneeded() -> None:
    assert why_unneeded("n-1", Standing(), LATER) == "There is no version of this name in the space."


@pytest.mark.parametrize("status", [VersionStatus.CANCELLED, VersionStatus.RETIRED, VersionStatus.DELETED])
def test_a_document_of_a_version_that_is_over_is_unneeded(status: VersionStatus) -> None:
    assert why_unneeded(NATIVE, of_version(status=status), LATER) == f"Its version is {status.value}."


def test_a_failed_version_needs_its_document_only_in_its_slot() -> None:
    failed = of_version(status=VersionStatus.FAILED)
    in_slot = replace(failed, document=a_document(candidate_version_id=VersionId("ver_1")))
    assert why_unneeded(NATIVE, in_slot, LATER) is None
    assert why_unneeded(NATIVE, failed, LATER) == "Its version has FAILED and lost its slot."


def test_of_two_documents_of_a_served_version_the_one_that_is_not_recorded_is_unneeded() -> None:
    assert why_unneeded(NATIVE, SERVED, LATER) is None
    assert why_unneeded("n-2", SERVED, LATER) == "It is a second one of its version, which is served by native-ver_1."


def test_of_a_version_whose_document_is_not_recorded_none_is_unneeded() -> None:
    assert why_unneeded(NATIVE, of_version(native_document_id=None), LATER) is None


@pytest.mark.parametrize(
    "status", [VersionStatus.CREATED, VersionStatus.UPLOADING, VersionStatus.UPLOADED, VersionStatus.INGESTING]
)
def test_a_version_that_is_on_its_way_needs_whatever_bears_its_name(status: VersionStatus) -> None:
    assert why_unneeded("n-2", of_version(status=status), LATER) is None


def test_nothing_is_unneeded_while_something_works_on_it() -> None:
    over = of_version(status=VersionStatus.DELETED)
    assert why_unneeded(NATIVE, replace(over, is_busy=True), LATER) is None


def test_what_has_changed_a_moment_ago_is_not_judged() -> None:
    over = of_version(status=VersionStatus.DELETED, updated_at=LATER + timedelta(microseconds=1))
    assert why_unneeded(NATIVE, over, LATER) is None
    assert why_unneeded(NATIVE, of_version(status=VersionStatus.DELETED, updated_at=LATER), LATER) is not None


@pytest.mark.parametrize(
    ("native", "status", "is_unneeded"),
    [
        (None, PurgeStatus.WAITING, False),
        (NATIVE, PurgeStatus.ISSUED, False),
        ("another", PurgeStatus.WAITING, True),
        (None, PurgeStatus.DONE, True),
        (NATIVE, PurgeStatus.DONE, True),
    ],
)
def test_what_a_purge_will_remove_needs_no_second_one(
    native: str | None, status: PurgeStatus, is_unneeded: bool
) -> None:
    purge = replace(a_purge(), native_document_id=native, status=status)
    over = replace(of_version(status=VersionStatus.DELETED), purges=(purge,))
    assert (why_unneeded(NATIVE, over, LATER) is not None) is is_unneeded
    assert (why_unneeded(NATIVE, Standing(purges=(purge,)), LATER) is not None) is is_unneeded


def test_a_served_version_is_missing_when_the_provider_does_not_have_it_or_is_not_done_with_it() -> None:
    undone = {NATIVE: replace(HELD[NATIVE], is_served=False)}
    assert why_missing(SERVED, HELD, LATER) is None
    assert why_missing(SERVED, {}, LATER) == "The provider has no document native-ver_1."
    assert why_missing(SERVED, undone, LATER) == (
        "The provider's document native-ver_1 is not done any more, or has no chunks."
    )


@pytest.mark.parametrize(
    "standing",
    [
        Standing(),
        replace(SERVED, is_busy=True),
        of_version(updated_at=LATER + timedelta(seconds=1)),
        of_version(status=VersionStatus.RETIRED),
        replace(SERVED, document=a_document(active_version_id=VersionId("ver_2"))),
        replace(SERVED, document=a_document(status=DocumentStatus.DELETING)),
    ],
)
def test_nothing_is_missing_that_is_not_served_or_moves_just_now(standing: Standing) -> None:
    assert why_missing(standing, {}, LATER) is None


def test_a_disabled_document_is_missed_as_well() -> None:
    disabled = replace(SERVED, document=a_document(status=DocumentStatus.DISABLED))
    assert why_missing(disabled, {}, LATER) is not None


@pytest.mark.parametrize(("missing", "served", "verdict"), [(10, 10, False), (11, 21, True), (11, 22, False)])
def test_a_provider_is_not_believed_that_misses_more_than_ten_and_more_than_half(
    missing: int, served: int, verdict: bool
) -> None:
    assert are_too_many(missing, served) is verdict


def finding(kind: FindingKind, outcome: FindingOutcome = FindingOutcome.REPORTED) -> Finding:
    return Mended(outcome).finding(Difference(kind=kind, explanation="So.", tenant_id=TenantId("acme")))


def test_a_tally_counts_all_and_names_only_the_first_of_each_kind() -> None:
    many = [finding(FindingKind.UNNEEDED_FILE)] * (MOST_FINDINGS + 1)
    tally = Tally().plus(many).plus([finding(FindingKind.MISSING_OBJECT)]).counting(FindingKind.MISSING_OBJECT, 2)
    assert tally.totals == {FindingKind.UNNEEDED_FILE: MOST_FINDINGS + 1, FindingKind.MISSING_OBJECT: 3}
    assert len(tally.findings) == MOST_FINDINGS + 1


def test_what_was_repaired_stays_when_a_comparison_begins_anew() -> None:
    repaired = finding(FindingKind.UNNEEDED_FILE, FindingOutcome.REPAIRED)
    tally = Tally().plus([finding(FindingKind.UNNEEDED_FILE), repaired]).repaired()
    assert (tally.totals, tally.findings) == ({FindingKind.UNNEEDED_FILE: 1}, (repaired,))


def test_an_overdue_operation_is_told_with_its_reason() -> None:
    operation = an_operation(status=OperationStatus.RUNNING)
    command = OpenCommand(id=CommandId.parse("op_1.upload.1.1"), due_at=NOW)
    workers = LiveWorkers(is_known=True, slots={}, hands={})
    later = datetime(2026, 3, 1, 13, tzinfo=UTC)
    why = explain(Unfinished(operation=operation, commands=(command,)), workers, later, timedelta(seconds=30))
    difference = overdue(operation, why)
    assert (difference.kind, difference.operation_id) == (FindingKind.OVERDUE_OPERATION, OperationId("op_1"))
    assert difference.explanation == (
        "NO_WORKER since 2026-03-01T12:30:15.123Z. "
        "Its step upload is due and no live worker takes that step. Start workers for it."
    )


def test_a_name_that_others_gave_is_shown_short_and_harmless() -> None:
    assert shown("a\0\nb") == r"'a\x00\nb'"
    assert len(shown("n" * 5000)) == 205
