"""The checker can fail: every kind of wrong answer is caught, each by exactly the rule that speaks of it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.rules import body, documents, echoes, envelope, errors, metadata, pages, retrieval, shapes
from tests.conformance.rules.shapes import DTO
from tests.conformance.rules.stages import ANSWER_RULES
from tests.unit.conformance.answers import SAMPLES, Change, answer, broken, failed, hit, version


def put(path: str, value: Any) -> Change:
    """Put a value where the path leads: names and numbers with dots between them."""

    def change(whole: Any) -> None:
        *way, last = _steps(path)
        for part in way:
            whole = whole[part]
        whole[last] = value

    return change


def drop(path: str) -> Change:
    """Take away what the path leads to."""

    def change(whole: Any) -> None:
        *way, last = _steps(path)
        for part in way:
            whole = whole[part]
        del whole[last]

    return change


def _steps(path: str) -> list[str | int]:
    return [int(part) if part.isdecimal() else part for part in path.split(".")]


def both(*changes: Change) -> Change:
    """One change after the other."""

    def change(whole: Any) -> None:
        for one in changes:
            one(whole)

    return change


def deep(levels: int) -> Any:
    return [] if levels == 1 else [deep(levels - 1)]


WRONG: list[tuple[str, Change, str]] = [
    ("space", put("data.name", deep(63)), body.J1),
    ("space", put("data.chunkCount", 7), body.J3),
    ("space", put("data.last-Error", "none"), body.J3),
    ("hits", put("data.hits.0.ragflowId", "x"), body.J3),
    ("space", put("data.version", 2**53), body.F5),
    ("space", put("surplus", 1), envelope.E1),
    ("space", drop("meta"), envelope.E1),
    ("error", put("meta.success", True), envelope.E2),
    ("space", put("meta.success", False), envelope.E2),
    ("space", put("data", [1]), envelope.E5),
    ("space", put("meta.pagination", {}), envelope.P7),
    ("spaces", put("meta.pagination", None), envelope.P7),
    ("spaces", put("data.pagination", {}), envelope.P7),
    ("space", put("meta.apiVersion", "v2"), envelope.E3),
    ("space", put("meta.surplus", 1), envelope.E3),
    ("space", put("meta.requestId", "r" * 129), envelope.E3),
    ("space", drop("meta.traceId"), envelope.E3),
    ("error", put("data", {}), envelope.E4),
    ("error", put("meta.error.message", ""), envelope.E4),
    ("error", put("meta.error.detail", "x"), envelope.E4),
    ("error", drop("meta.error.fieldErrors"), envelope.E4),
    ("error", put("meta.error.fieldErrors.0.value", "x"), envelope.E4),
    ("space", put("meta.timestamp", "2031-05-06T07:08:09+00:00"), envelope.F2),
    ("error", put("meta.timestamp", "2031-05-06T07:08:09+00:00"), envelope.F2),
    ("space", put("meta.timestamp", "2031-05-06T07:08Z"), envelope.F1),
    ("space", put("meta.timestamp", "2031-13-06T07:08:09Z"), envelope.F1),
    ("detail", put("data.createdAt", "2031-05-06T07:08:09.1+00:00"), envelope.F2),
    ("detail", put("data.activeVersion.readyAt", "2031-05-06T07:08:60Z"), envelope.F1),
    ("operation", put("data.createdAt", "2031-05-06 07:08:09Z"), envelope.F1),
    ("operation", put("data.nextRetryAt", "2031-05-06t07:08:09Z"), envelope.F1),
    ("spaces", put("meta.pagination.totalItems", -1), envelope.P1),
    ("spaces", put("meta.pagination.cursor", "x"), envelope.P1),
    ("spaces", both(put("meta.pagination.page", 2)), pages.P2),
    ("spaces", put("meta.pagination.totalPages", 4), pages.P3),
    ("spaces", put("meta.pagination.hasNext", False), pages.P4),
    ("spaces", put("data.items", []), pages.P5),
    ("spaces", put("data.items.1.spaceId", "spc_1"), pages.I1),
    ("documents", put("data.items.0.knowledgeSpaceId", "spc_2"), pages.P8),
    ("space", put("data.description", None), DTO["Space"]),
    ("space", drop("data.code"), DTO["Space"]),
    ("space", put("data.status", "READY"), DTO["Space"]),
    ("space", put("data.version", True), DTO["Space"]),
    ("space", put("data.name", "𝄞" * 129), DTO["Space"]),
    ("spaces", put("data.items.0.profileCode", None), DTO["SpaceList"]),
    ("created", put("data.description", "text"), DTO["SpaceCreated"]),
    ("updated", put("data.code", "harbour"), DTO["SpaceUpdated"]),
    ("documents", put("data.items.0.lockVersion", 0), DTO["DocumentList"]),
    ("detail", put("data.candidateVersion", []), DTO["DocumentDetail"]),
    ("detail", drop("data.activeVersion.cancelledAt"), DTO["DocumentDetail"]),
    ("detail", put("data.activeVersion.failureCode", None), DTO["DocumentDetail"]),
    ("changed", put("data.candidateVersion", None), DTO["Document"]),
    ("changed", put("data.activeVersion", {}), DTO["Document"]),
    ("space leaving", put("data.version", 2), DTO["SpaceOperationAccepted"]),
    ("accepted", put("data.versionId", "ver_2"), DTO["DocumentOperationAccepted"]),
    ("operation", put("data.failureCode", None), DTO["Operation"]),
    ("operation", put("data.retryCount", 6), DTO["Operation"]),
    ("operation", put("data.failureCode", "FILE_CORRUPT"), DTO["Operation"]),
    ("retry", put("data.manualRetryAttempt", 1), DTO["ManualRetryAccepted"]),
    ("hits", put("data.hits.0.page", None), DTO["RetrievalResult"]),
    ("hits", put("data.hits.0.score", 1.01), DTO["RetrievalResult"]),
    ("hits", drop("data.hits.0.chapterPath"), DTO["RetrievalResult"]),
    ("citation", put("data.pageStart", None), DTO["CitationSource"]),
    ("citation", put("data.matchedContent", "x" * 2501), DTO["CitationSource"]),
    ("link", put("data.method", "GET"), DTO["DownloadLink"]),
    ("space", put("data.code", "a\u3000b"), shapes.F3),
    ("space", put("data.spaceId", "spc\ufeff1"), shapes.F3),
    ("detail", put("data.activeVersion.operationId", "op 1"), shapes.F3),
    ("link", put("data.downloadUrl", "/downloads/sealed"), shapes.F4),
    ("link", put("data.expiresInSeconds", 61), shapes.L2),
    ("detail", drop("data.metadata.category"), shapes.M1),
    ("detail", put("data.metadata.colour", "red"), shapes.M1),
    ("hits", put("data.hits.0.metadata.productCode", "x" * 65), shapes.M2),
    ("documents", put("data.items.0.metadata.versionLabel", "a\u0085"), shapes.M2),
    ("detail", put("data.metadata.tags", None), shapes.M3),
    ("detail", put("data.metadata.tags", ["x" * 33]), shapes.M3),
    ("detail", put("data.metadata.tags", ["a", "a"]), shapes.M3),
    ("detail", put("data.metadata.tags", [str(number) for number in range(21)]), shapes.M3),
    ("detail", put("data.metadata.category", " law"), metadata.M5),
    ("detail", put("data.metadata.category", "Cafe\u0301"), metadata.M5),
    ("detail", put("data.metadata.tags", ["Café", "Cafe\u0301"]), metadata.M5),
    ("hits", put("data.hits.0.metadata.versionLabel", "v1\ufeff"), metadata.M5),
    ("detail", put("data.searchable", False), documents.D1),
    ("detail", put("data.status", "DISABLED"), documents.D1),
    ("replacing", put("data.candidateVersion.versionId", "ver_1"), documents.D2),
    ("replacing", put("data.candidateVersion.status", "DELETED"), documents.D3),
    ("detail", put("data.activeVersion.progressPercent", 99), documents.D4),
    ("detail", put("data.activeVersion.progressSource", "PROVIDER"), documents.D4),
    (
        "replacing",
        both(
            put("data.candidateVersion.progressSource", "TERMINAL_STATE"),
            put("data.candidateVersion.progressPercent", 0),
        ),
        documents.D5,
    ),
    ("replacing", put("data.candidateVersion.progressPercent", 0), documents.D6),
    ("replacing", put("data.candidateVersion.progressSource", "PROVIDER"), documents.D6),
    ("replacing", put("data.candidateVersion.retryable", True), documents.D7),
    ("replacing", put("data.candidateVersion.error", failed()["error"]), documents.D7),
    ("failed", put("data.candidateVersion.error", None), documents.D8),
    ("failed", put("data.candidateVersion.retryable", True), documents.D9),
    ("detail", put("data.activeVersion.activatedAt", None), documents.O1),
    ("replacing", put("data.candidateVersion.versionNo", 1), documents.O2),
    ("failed", put("data.candidateVersion.failedAt", None), documents.O3),
    ("detail", put("data.activeVersion.cancelledAt", "2031-05-06T07:08:09Z"), documents.O3),
    ("detail", put("data.updatedAt", "2030-05-06T07:08:09Z"), documents.O4),
    ("failed", put("data.candidateVersion.operationStatus", "RUNNING"), documents.O5),
    ("hits", put("data.hits", [hit(number) for number in range(9)]), shapes.S1),
    ("hits", put("data.hits.0.content", "x" * 2501), shapes.S1),
    ("hits", put("data.hits", [hit(number, documentId="doc_1") for number in range(5)]), retrieval.S1B),
    ("hits", put("data.hits", [hit(number, content="x" * 2401) for number in range(7)]), retrieval.S1C),
    ("hits", put("data.query", "when? "), retrieval.S2),
    ("no hits", drop("data.reason"), shapes.S3),
    ("no hits", put("data.reason", "NOTHING"), shapes.S3),
    ("hits", put("data.reason", "NO_AUTHORIZED_RELEVANT_EVIDENCE"), DTO["RetrievalResult"]),
    ("narrowed", put("data.hits", [hit(1), hit(2), hit(2, citationId="cit_3")]), retrieval.O6),
    ("narrowed", put("data.hits.1.documentId", "doc_3"), retrieval.O9),
    ("hits", put("data.hits.5.score", 1), retrieval.O7),
    ("hits", put("data.hits.5.citationId", "cit_0"), retrieval.O8),
    (
        "citation",
        both(put("data.beforeContent", "🕘🕘"), put("data.actualContextBefore", 4)),
        retrieval.C2,
    ),
    (
        "citation",
        both(put("data.afterContent", "x" * 1001), put("data.actualContextAfter", 1001)),
        retrieval.C3,
    ),
    ("citation", put("data.requestedContextAfter", 900), retrieval.C4),
    ("citation", put("data.pageEnd", 1), retrieval.C5),
    ("citation", put("data.citationId", "cit_2"), retrieval.C6),
    ("link", put("data.downloadUrl", "http://gateway.example/downloads/sealed"), retrieval.L1),
    ("link", put("data.downloadUrl", "ftp://127.0.0.1/sealed"), retrieval.L1),
    ("link", put("data.expiresAt", "2031-05-06T08:08:09Z"), retrieval.O10),
    ("link", put("data.documentId", "doc_2"), echoes.OF_DOCUMENT),
    ("space", put("data.spaceId", "spc_2"), echoes.OF_SPACE),
    ("created", put("data.name", "Harbour "), echoes.OF_CREATION),
    ("accepted", put("data.documentId", "doc_2"), echoes.OF_DOCUMENT),
    ("operation", put("data.operationId", "op_2"), echoes.OF_OPERATION),
    ("retry", put("data.parentOperationId", "op_0"), echoes.OF_RETRY),
    ("retry", put("data.operationId", "op_1"), echoes.OF_RETRY),
    ("error", put("meta.error.code", "SOMETHING_ELSE"), errors.K1),
    ("error", put("meta.error.code", "SPACE_NOT_EMPTY"), errors.K2),
    ("error", put("meta.error.retryable", True), errors.K3),
    ("busy", put("meta.error.retryable", False), errors.K3),
    ("error", put("meta.error.fieldErrors.0.field", "body -> name"), errors.K5),
    ("error", put("meta.error.fieldErrors.0.reason", "too long"), errors.K5),
    (
        "refused",
        put("meta.error.fieldErrors", [{"field": "X-User-Assertion", "reason": "EXPIRED", "message": "Expired"}]),
        errors.K6,
    ),
    ("error", put("meta.error.message", "sqlite3.OperationalError"), errors.K7),
]
"""Which sample, what is done to it, and the one rule that says so."""


@pytest.mark.parametrize("sample", SAMPLES)
def test_an_answer_as_it_must_be_breaks_nothing(sample: str) -> None:
    assert broken(answer(sample)) == set()


@pytest.mark.parametrize(
    ("sample", "change", "rule"), WRONG, ids=[f"{rule[:24]}-{at}" for at, (*_, rule) in enumerate(WRONG)]
)
def test_a_wrong_answer_breaks_its_rule_and_no_other(sample: str, change: Change, rule: str) -> None:
    assert broken(answer(sample, change)) == {rule}


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"", body.T5),
        (b"<html>Not found</html>", body.T5),
        (b'{"data":NaN,"meta":{}}', body.T5),
        (b'{"data":{},"meta":{}} more', body.T5),
        (b'\xef\xbb\xbf{"data":{},"meta":{}}', body.T5),
        (b'{"data":{"name":"\xff"},"meta":{}}', body.T5),
        (b'{"data":{},"data":{},"meta":{}}', body.T13),
        (b'{"data":{"version":1e400},"meta":{}}', body.J2),
        (b" " * 10_485_761 + b"1", body.T2),
    ],
)
def test_wrong_bytes_break_their_rule(content: bytes, rule: str) -> None:
    assert broken(answer("space", content=content)) == {rule}


def test_an_error_that_is_longer_than_the_client_reads_is_caught() -> None:
    whole = json.dumps(SAMPLES["error"][2]).encode()

    assert broken(answer("error", content=whole + b" " * 65_536)) == {body.T4}


def test_another_success_than_the_contracts_is_caught() -> None:
    assert broken(answer("created", status=200)) == {body.T10}


def test_a_redirect_is_caught() -> None:
    assert broken(answer("error", status=307, location="/elsewhere")) == {body.T1}


def test_another_content_type_is_caught() -> None:
    assert broken(answer("space", content_type="text/plain")) == {body.T9}


def test_a_wait_that_is_no_number_is_caught() -> None:
    assert broken(answer("busy", retry_after="soon")) == {errors.K4}


def test_a_page_larger_than_the_gateways_is_caught() -> None:
    def twenty_one(whole: Any) -> None:
        whole["data"]["items"] = [
            {"spaceId": f"spc_{number}", "code": "a", "name": "", "status": "ACTIVE", "version": 1}
            for number in range(21)
        ]
        whole["meta"]["pagination"] |= {"pageSize": 21, "totalItems": 21, "totalPages": 1, "hasNext": False}

    assert broken(answer("spaces", twenty_one)) == {pages.P2, pages.P6}


def test_a_citation_that_is_too_long_altogether_is_caught() -> None:
    def too_long(whole: Any) -> None:
        sizes = {"requestedContextBefore": 5000, "requestedContextAfter": 5000, "actualContextAfter": 5000}
        texts = {"beforeContent": "x" * 5000, "matchedContent": "x" * 2500, "afterContent": "x" * 5000}
        whole["data"] |= sizes | texts | {"actualContextBefore": 5000}

    assert broken(answer("citation", too_long)) == {retrieval.C4}


def rules_with_a_wrong_answer() -> Iterator[str]:
    yield from (rule for *_, rule in WRONG)
    yield from (body.T1, body.T2, body.T4, body.T5, body.T9, body.T10, body.T13, body.J2, errors.K4, pages.P6)


UNREACHABLE = {
    retrieval.C1: "the three parts within their own limits are 12,500 together",
    metadata.M4: "four fields within their own limits are shorter",
}


def test_every_rule_for_single_answers_is_shown_to_fail() -> None:
    missing = set(ANSWER_RULES) - set(rules_with_a_wrong_answer()) - set(UNREACHABLE)

    assert missing == set()


def test_an_active_version_that_is_retired_is_not_served() -> None:
    def retired(whole: Any) -> None:
        whole["data"]["activeVersion"] = version(status="RETIRED")

    assert broken(answer("detail", retired)) == {documents.D1, documents.O1}
