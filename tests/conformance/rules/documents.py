"""What must hold between the fields of a document and of its versions."""

from typing import Final

from tests.conformance.answers import Answer, Json
from tests.conformance.rules.finding import Findings, found

D1: Final = "D1 searchable is exactly ACTIVE with a READY active version"
D2: Final = "D2 the candidate is not the active version"
D3: Final = "D3 a candidate is neither RETIRED nor DELETED"
D4: Final = "D4 a READY or RETIRED version is at 100 by its terminal state"
D5: Final = "D5 no other version is told by a terminal state"
D6: Final = "D6 progress without a source is null and the other way round"
D7: Final = "D7 what has not FAILED has no error and is not retryable"
D8: Final = "D8 what has FAILED has an error"
D9: Final = "D9 a version is retryable as its error is"
O1: Final = "O1 an active version is READY and was ready before it was activated"
O2: Final = "O2 a candidate is newer than the active version"
O3: Final = "O3 a version that ended says when it did, and no other does"
O4: Final = "O4 nothing was changed before it was made"
O5: Final = "O5 the operation of a version stands as the version does"

DOCUMENT_RULES: Final = (D1, D2, D3, D4, D5, D6, D7, D8, D9, O1, O2, O3, O4, O5)

ENDED: Final = {"FAILED": "failedAt", "CANCELLED": "cancelledAt"}
OPERATION_OF: Final = {"READY": "SUCCEEDED", "FAILED": "FAILED", "CANCELLED": "CANCELLED"}


def document(answer: Answer) -> Findings:
    """One document in full."""
    if answer.call.route.data != "DocumentDetail" or not answer.is_success:
        return
    detail = answer.data
    active, candidate = detail["activeVersion"], detail["candidateVersion"]
    is_ready = active is not None and active["status"] == "READY"
    served = detail["status"] == "ACTIVE" and is_ready
    yield found(D1, detail["searchable"] == served, f"{detail['searchable']} for {detail['status']}")
    yield found(O4, detail["createdAt"] <= detail["updatedAt"], f"{detail['createdAt']} > {detail['updatedAt']}")
    if active is not None:
        yield from _version(active)
        in_order = (
            is_ready and active["readyAt"] and active["activatedAt"] and active["readyAt"] <= active["activatedAt"]
        )
        yield found(O1, bool(in_order), f"{active['status']}, {active['readyAt']}, {active['activatedAt']}")
    if candidate is not None:
        yield from _version(candidate)
        yield found(D3, candidate["status"] not in {"RETIRED", "DELETED"}, str(candidate["status"]))
    if active is not None and candidate is not None:
        yield found(D2, active["versionId"] != candidate["versionId"], "both slots name one version")
        yield found(O2, active["versionNo"] < candidate["versionNo"], f"{candidate['versionNo']} is not newer")


def _version(version: Json) -> Findings:
    status, percent, source = version["status"], version["progressPercent"], version["progressSource"]
    error = version["error"]
    if status in {"READY", "RETIRED"}:
        yield found(D4, (percent, source) == (100, "TERMINAL_STATE"), f"{percent} by {source}")
    else:
        yield found(D5, source != "TERMINAL_STATE", f"{status} is")
        yield found(D6, (source == "UNAVAILABLE") == (percent is None), f"{percent} by {source}")
    if status == "FAILED":
        yield found(D8, error is not None, "it has none")
    else:
        is_clear = error is None and version["retryable"] is False
        yield found(D7, is_clear, f"{status} with {error}, retryable {version['retryable']}")
    if error is not None and status == "FAILED":
        yield found(D9, version["retryable"] == error["retryable"], f"{version['retryable']}, {error['retryable']}")
    for ended, field in ENDED.items():
        yield found(O3, (version[field] is not None) == (status == ended), f"{field} is {version[field]}, {status}")
    if status in OPERATION_OF and version["operationStatus"] is not None:
        yield found(O5, version["operationStatus"] == OPERATION_OF[status], f"{version['operationStatus']}, {status}")
