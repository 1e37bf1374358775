"""Where a check of schemathesis knows less of this gateway than the document can say; each with its reason."""

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from schemathesis import Response
from schemathesis.core.failures import Failure
from schemathesis.openapi.checks import RejectedPositiveData

from shared.contracts.errors import ErrorCode
from shared.contracts.route import IDEMPOTENCY_KEY
from tests.fuzz.mixing import AnyCase

NUL = "\0"


def is_a_fault(failure: Failure, case: AnyCase, response: Response) -> bool:
    """Whether a failed check is the gateway's fault.

    The contract's schemas are the client's and are published as they are, although three rules stand in none of them:
    text holds no U+0000; metadata are without control characters and repetitions after NFC and trimming; an update
    changes something. A request that is refused for exactly that, and does break it, is refused rightly; so is one
    whose idempotency key the mixer has emptied, which schemathesis does not notice in every phase.
    """
    if not isinstance(failure, RejectedPositiveData):
        return True
    error = response.json()["meta"]["error"]
    if error["code"] == ErrorCode.METADATA_VALUE_INVALID:
        return not _breaks_metadata_rules(case.body)
    if error["code"] == ErrorCode.INVALID_INPUT:
        reasons = {fault["reason"] for fault in error["fieldErrors"]}
        has_nul = reasons == {"CONTROL_CHARACTER"} and any(NUL in text for text in _texts([case.body, case.query]))
        has_no_key = case.headers.get(IDEMPOTENCY_KEY.name) == ""
        return not has_nul and not has_no_key and not (case.method == "PATCH" and _changes_nothing(case.body))
    return True


def _changes_nothing(body: Any) -> bool:
    return all(name == "expectedVersion" or value == {} for name, value in body.items())


def _texts(value: object) -> Iterator[str]:
    """Every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _breaks_metadata_rules(body: Any) -> bool:
    metadata = body.get("metadata", body.get("metadataFilter"))
    kept = [unicodedata.normalize("NFC", text).strip() for text in _texts(metadata)]
    has_control = any(unicodedata.category(character) == "Cc" for text in kept for character in text)
    lists = [part for part in metadata.values() if isinstance(part, list)]
    has_twins = any(len({unicodedata.normalize("NFC", one).strip() for one in part}) < len(part) for part in lists)
    return has_control or has_twins or "" in kept or any(len(text) > 32 for text in kept)
