"""Errors as callers get them."""

from datetime import timedelta

import pytest

from services.api.edge.errors import outward, refuse
from shared.contracts.errors import ERROR_RULES, ErrorCode, FieldError, RequestRefused
from shared.database.errors import SchemaOutdated, UniqueViolation
from shared.domain.errors import (
    Conflict,
    FieldFault,
    Forbidden,
    KnowgateError,
    LimitReached,
    NotFound,
    StoreUnavailable,
    Unauthenticated,
)


def every_error(root: type[KnowgateError] = KnowgateError) -> list[type[KnowgateError]]:
    return [root, *(leaf for branch in root.__subclasses__() for leaf in every_error(branch))]


@pytest.mark.parametrize("code", ErrorCode)
def test_every_code_has_a_status_that_is_an_error(code: ErrorCode) -> None:
    refusal = refuse(code)

    assert 400 <= refusal.status <= 599
    assert refusal.error.code == code
    assert refusal.error.retryable is (refusal.status in {429, 503})


@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.__name__)
def test_every_error_of_the_product_has_a_code_with_a_rule(kind: type[KnowgateError]) -> None:
    assert kind.code in ERROR_RULES


def test_an_error_is_told_with_its_own_text_and_faults() -> None:
    fault = FieldFault("$.code", "TAKEN", "Another space has it.")

    refusal = outward(Conflict("The code is taken.", faults=(fault,)))

    assert refusal.status == 409
    assert refusal.error.message == "The code is taken."
    assert refusal.error.field_errors == (FieldError(field="$.code", reason="TAKEN", message="Another space has it."),)


def test_refused_credentials_never_say_why() -> None:
    refusal = outward(Unauthenticated("The signature is wrong.", faults=(FieldFault("a", "b", "c"),)))

    assert refusal.status == 401
    assert refusal.error.message == "The credentials are missing or not valid."
    assert refusal.error.field_errors == ()


@pytest.mark.parametrize(
    "error",
    [ValueError("postgresql://user:secret@host"), KnowgateError("secret"), SchemaOutdated("1", "2"), KeyError("x")],
)
def test_an_error_that_nobody_foresaw_tells_nothing_of_itself(error: Exception) -> None:
    refusal = outward(error)

    assert refusal.status == 500
    assert refusal.error.message == "Something went wrong on our side."
    assert refusal.error.retryable is False
    assert refusal.is_ours


def test_a_request_that_cannot_be_read_keeps_its_code_and_fields() -> None:
    fault = FieldError(field="$.tags", reason="REPEATED", message="Must not repeat")

    refusal = outward(RequestRefused(ErrorCode.METADATA_VALUE_INVALID, (fault,)))

    assert (refusal.status, refusal.error.code) == (400, "KNOWLEDGE_METADATA_VALUE_INVALID")
    assert refusal.error.field_errors == (fault,)


@pytest.mark.parametrize(
    ("retry_after", "header"),
    [(None, "1"), (timedelta(milliseconds=1), "1"), (timedelta(seconds=2.5), "3"), (timedelta(minutes=1), "60")],
)
def test_what_may_succeed_later_says_when_to_come_back(retry_after: timedelta | None, header: str) -> None:
    refusal = outward(StoreUnavailable(retry_after=retry_after))

    assert refusal.status == 503
    assert refusal.error.retryable is True
    assert refusal.headers == {"Retry-After": header}


def test_a_limit_is_named_in_the_fields() -> None:
    refusal = outward(LimitReached("tenant_queue", retry_after=timedelta(seconds=7)))

    assert (refusal.status, refusal.headers) == (429, {"Retry-After": "7"})
    assert refusal.error.code == "RATE_LIMITED"
    assert [fault.field for fault in refusal.error.field_errors] == ["tenant_queue"]


@pytest.mark.parametrize(
    ("constraint", "code"),
    [
        ("space_code_once", "KNOWLEDGE_CONFLICT"),
        ("operation_one_at_a_time", "KNOWLEDGE_OPERATION_PENDING"),
        ("anything_else", "KNOWLEDGE_CONFLICT"),
    ],
)
def test_a_lost_race_is_told_as_what_it_means(constraint: str, code: str) -> None:
    refusal = outward(UniqueViolation(constraint))

    assert (refusal.status, refusal.error.code) == (409, code)
    assert constraint not in refusal.error.message


def test_texts_are_cut_to_what_an_answer_may_hold() -> None:
    fault = FieldFault("$." + "a" * 300, "r" * 200, "m" * 3000)

    refusal = outward(NotFound("m" * 3000, faults=(fault,)))

    assert len(refusal.error.message) == 2000
    assert [len(part) for part in refusal.error.field_errors[0].model_dump().values()] == [256, 128, 2000]


def test_what_a_caller_did_wrong_is_not_our_failure() -> None:
    assert not outward(Forbidden()).is_ours
