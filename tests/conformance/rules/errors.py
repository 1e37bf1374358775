"""Errors: which codes there are, and what goes with each."""

import re
from typing import Final

from tests.conformance.answers import Answer
from tests.conformance.rules.finding import Findings, found

K1: Final = "K1 an error's code is one that the client maps"
K2: Final = "K2 an error has its code's status"
K3: Final = "K3 an error is retryable exactly when the same request may soon succeed"
K4: Final = "K4 whoever is to wait is told how long, in whole seconds"
K5: Final = "K5 a field error names a JSON path, a header or a limit, and a reason in capitals"
K6: Final = "K6 a refused caller learns nothing more"
K7: Final = "K7 no text of an error tells of what lies behind the gateway"

ERROR_RULES: Final = (K1, K2, K3, K4, K5, K6, K7)

STATUSES: Final = {
    "KNOWLEDGE_UNAUTHENTICATED": 401,
    "KNOWLEDGE_FORBIDDEN": 403,
    "KNOWLEDGE_NOT_FOUND": 404,
    "KNOWLEDGE_CONFLICT": 409,
    "KNOWLEDGE_OPERATION_PENDING": 409,
    "KNOWLEDGE_PROVIDER_UNAVAILABLE": 503,
    "KNOWLEDGE_INVALID_INPUT": 422,
    "KNOWLEDGE_METADATA_FIELD_NOT_ALLOWED": 400,
    "KNOWLEDGE_METADATA_FILTER_FIELD_NOT_ALLOWED": 400,
    "KNOWLEDGE_METADATA_VALUE_INVALID": 400,
    "SPACE_DISABLED": 403,
    "SPACE_NOT_FOUND": 404,
    "DOCUMENT_NOT_FOUND": 404,
    "FILE_NOT_FOUND": 404,
    "OPERATION_NOT_FOUND": 404,
    "KNOWLEDGE_VERSION_CONFLICT": 409,
    "DOCUMENT_VERSION_CONFLICT": 409,
    "DOCUMENT_NOT_READY": 409,
    "OPERATION_NOT_CANCELLABLE": 409,
    "OPERATION_NOT_RETRYABLE": 409,
    "OPERATION_MANUAL_RETRY_LIMIT_EXCEEDED": 409,
    "SPACE_NOT_EMPTY": 409,
    "SPACE_HAS_PENDING_OPERATIONS": 409,
    "INVALID_CONTEXT_RANGE": 422,
    "FILE_TYPE_NOT_ALLOWED": 415,
    "FILE_TOO_LARGE": 413,
    "RATE_LIMITED": 429,
    "PROVIDER_UNAVAILABLE": 503,
    "METHOD_NOT_ALLOWED": 405,
    "REQUEST_TOO_LARGE": 413,
    "UNSUPPORTED_MEDIA_TYPE": 415,
}
"""Every code that a run provokes, with its status."""

UNPROVOKED: Final = {
    "KNOWLEDGE_METADATA_TOO_LARGE": "four fields within their own limits stay below 4,096 bytes",
    "INTERNAL_ERROR": "it means a fault of the product, and none is known",
}
"""Codes that the product knows and that no request can bring about, each with why."""

CODES: Final = {code: f"CODE {code} is answered with {status}" for code, status in STATUSES.items()}

TRANSIENT: Final = frozenset({429, 503})
FIELD: Final = re.compile(r"\$[^\s]*|[A-Z][A-Za-z]*(-[A-Z][A-Za-z]*)*|[a-z]+(_[a-z]+)*|file")
REASON: Final = re.compile("[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
INSIDE: Final = re.compile(
    r"traceback|sqlite|postgres|psycopg|sqlalchemy|pydantic|nats|jetstream|ragflow|scripted|embedded|"
    r"\bselect\b|/tmp/|/home/|\.py\b|exception",
    re.IGNORECASE,
)


def error(answer: Answer) -> Findings:
    """An error that is an envelope."""
    if answer.is_success:
        return
    code, fields = answer.code, answer.error["fieldErrors"]
    yield found(K1, code in STATUSES, code)
    if code in STATUSES:
        yield found(K2, answer.status == STATUSES[code], f"{code} with {answer.status}")
    is_transient = answer.status in TRANSIENT
    yield found(K3, answer.error["retryable"] is is_transient, f"{answer.status} is {answer.error['retryable']}")
    if is_transient:
        wait = answer.headers.get("retry-after", "")
        yield found(K4, wait.isdecimal() and int(wait) > 0, repr(wait))
    for one in fields:
        is_named = FIELD.fullmatch(one["field"]) is not None and REASON.fullmatch(one["reason"]) is not None
        yield found(K5, is_named, f"{one['field']}: {one['reason']}")
    if answer.status == 401:
        yield found(K6, not fields, f"{len(fields)} field errors")
    texts = " ".join([answer.error["message"], *(one["message"] for one in fields)])
    yield found(K7, INSIDE.search(texts) is None, texts)
