"""Every error code has a status, and reads at the client as what it means."""

import pytest

from shared.contracts.enums import FailureCode
from shared.contracts.errors import ERROR_RULES, ApiError, ClientCode, ErrorCode, FieldError

STATUSES_THE_CLIENT_READS = {
    401: ClientCode.UNAUTHENTICATED,
    403: ClientCode.FORBIDDEN,
    404: ClientCode.NOT_FOUND,
    409: ClientCode.CONFLICT,
    429: ClientCode.PROVIDER_UNAVAILABLE,
    500: ClientCode.PROVIDER_UNAVAILABLE,
    503: ClientCode.PROVIDER_UNAVAILABLE,
}
"""How the client falls back on the status when it does not know a code; any other status is INVALID_INPUT."""

KNOWN_TO_THE_CLIENT = {
    "SPACE_DISABLED": ClientCode.FORBIDDEN,
    "SPACE_NOT_FOUND": ClientCode.NOT_FOUND,
    "DOCUMENT_NOT_FOUND": ClientCode.NOT_FOUND,
    "FILE_NOT_FOUND": ClientCode.NOT_FOUND,
    "OPERATION_NOT_FOUND": ClientCode.NOT_FOUND,
    "KNOWLEDGE_VERSION_CONFLICT": ClientCode.CONFLICT,
    "DOCUMENT_VERSION_CONFLICT": ClientCode.CONFLICT,
    "OPERATION_NOT_CANCELLABLE": ClientCode.CONFLICT,
    "SPACE_NOT_EMPTY": ClientCode.CONFLICT,
    "SPACE_HAS_PENDING_OPERATIONS": ClientCode.CONFLICT,
    "OPERATION_NOT_RETRYABLE": ClientCode.CONFLICT,
    "OPERATION_MANUAL_RETRY_LIMIT_EXCEEDED": ClientCode.CONFLICT,
    "DOCUMENT_NOT_READY": ClientCode.OPERATION_PENDING,
    "RATE_LIMITED": ClientCode.PROVIDER_UNAVAILABLE,
    "PROVIDER_UNAVAILABLE": ClientCode.PROVIDER_UNAVAILABLE,
    "FILE_TYPE_NOT_ALLOWED": ClientCode.INVALID_INPUT,
    "FILE_TOO_LARGE": ClientCode.INVALID_INPUT,
    "INVALID_CONTEXT_RANGE": ClientCode.INVALID_INPUT,
} | {code.value: code for code in ClientCode}


def test_every_code_has_a_rule() -> None:
    assert set(ERROR_RULES) == set(ErrorCode)


@pytest.mark.parametrize("code", ErrorCode)
def test_the_client_reads_a_code_as_the_rule_says(code: ErrorCode) -> None:
    rule = ERROR_RULES[code]

    by_status = STATUSES_THE_CLIENT_READS.get(rule.status, ClientCode.INVALID_INPUT)
    assert rule.client_code == KNOWN_TO_THE_CLIENT.get(code.value, by_status)


def test_the_gateway_never_blames_itself_for_the_protocol() -> None:
    assert ClientCode.GATEWAY_PROTOCOL_ERROR.value not in set(ErrorCode)
    assert {code.value for code in ClientCode} - {code.value for code in ErrorCode} == {
        "KNOWLEDGE_GATEWAY_PROTOCOL_ERROR"
    }


def test_only_what_passes_by_itself_makes_the_client_read_again() -> None:
    assert {code for code, rule in ERROR_RULES.items() if rule.retryable} == {
        ErrorCode.RATE_LIMITED,
        ErrorCode.PROVIDER_UNAVAILABLE,
        ErrorCode.KNOWLEDGE_PROVIDER_UNAVAILABLE,
    }


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (ErrorCode.UNAUTHENTICATED, 401),
        (ErrorCode.FORBIDDEN, 403),
        (ErrorCode.NOT_FOUND, 404),
        (ErrorCode.CONFLICT, 409),
        (ErrorCode.OPERATION_PENDING, 409),
        (ErrorCode.KNOWLEDGE_PROVIDER_UNAVAILABLE, 503),
        (ErrorCode.INVALID_INPUT, 422),
        (ErrorCode.METADATA_FIELD_NOT_ALLOWED, 400),
        (ErrorCode.METADATA_FILTER_FIELD_NOT_ALLOWED, 400),
        (ErrorCode.METADATA_VALUE_INVALID, 400),
        (ErrorCode.METADATA_TOO_LARGE, 400),
    ],
)
def test_the_general_codes_have_their_usual_status(code: ErrorCode, status: int) -> None:
    assert ERROR_RULES[code].status == status


def test_an_operation_carries_only_general_codes() -> None:
    assert {code.value for code in FailureCode} < {code.value for code in ErrorCode}


def test_an_error_takes_its_text_from_its_code() -> None:
    error = ApiError.of(ErrorCode.SPACE_NOT_EMPTY)

    assert error.to_json() == (
        b'{"code":"SPACE_NOT_EMPTY","message":"The space still holds documents.","retryable":false,"fieldErrors":[]}'
    )


def test_an_error_may_have_a_text_of_its_own() -> None:
    assert ApiError.of(ErrorCode.CONFLICT, "The key was used before.").message == "The key was used before."


def test_no_more_than_a_hundred_field_errors_are_sent() -> None:
    one = FieldError(field="$.a", reason="MISSING", message="Field required")

    assert len(ApiError.of(ErrorCode.INVALID_INPUT, field_errors=[one] * 101).field_errors) == 100
