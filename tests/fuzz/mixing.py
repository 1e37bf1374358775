"""Mixes what is real into generated requests: credentials, ids, versions, fresh keys; and sometimes breaks a header.

A generated value is replaced only where it is a fitting one: what was generated to be wrong stays wrong.
"""

import re
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from schemathesis import Case, HookContext

from shared.contracts.route import (
    CALLER_HEADERS,
    IDEMPOTENCY_KEY,
    REQUEST_ID,
    SESSION_ID,
    TOOL_CALL_ID,
    USER_ASSERTION,
    Header,
)
from tests.fuzz.live import Live

AnyCase = Case[Any]

Credentials = Callable[[], Mapping[str, str]]
"""The headers that prove a caller who may do everything, good for the next minutes."""

PATH_IDS = 0.75
DELETED_IDS = 0.2
"""Of ids that a request would delete: what is deleted can show nothing more."""
BODY_VALUES = 0.8
BROKEN_HEADERS = 0.04

LISTS: Mapping[str, str] = {"knowledgeSpaceIds": "spaceId", "documentIds": "documentId"}
"""What a list in a body names."""

_ID = re.compile(r"\S{1,256}")
_CREDENTIALS = (USER_ASSERTION, SESSION_ID)


class Mixer:
    """Changes cases; the same case in the same way as long as the same things are live."""

    def __init__(self, live: Live, credentials: Credentials, seed: int) -> None:
        self._live = live
        self._credentials = credentials
        self._seed = seed

    def mix(self, context: HookContext, case: AnyCase) -> AnyCase:
        """One generated case with real values in it."""
        drawn = (case.method, case.path, case.path_parameters, case.query, case.body)
        key = case.headers.get(IDEMPOTENCY_KEY.name)
        dice = Random(f"{self._seed} {drawn!r} {key!r}")
        self._mix_headers(case, dice)
        target = self._mix_path(case, dice)
        self._mix_query(case, dice)
        if isinstance(case.body, dict):
            case.body = self._mixed_body(case.body, target, dice)
        return case

    def _mix_headers(self, case: AnyCase, dice: Random) -> None:
        """Put real credentials in the place of generated ones of a fitting length."""
        if all(_fits(case, header) for header in _CREDENTIALS):
            real = self._credentials()
            for header in _CREDENTIALS:
                case.headers[header.name] = real[header.name]
        for header in (TOOL_CALL_ID, REQUEST_ID, IDEMPOTENCY_KEY):
            if _fits(case, header):
                case.headers[header.name] = f"fuzz-{dice.getrandbits(64):016x}"
        given = [header.name for header in (*CALLER_HEADERS, IDEMPOTENCY_KEY) if header.name in case.headers]
        if given and dice.random() < BROKEN_HEADERS:
            case.headers[dice.choice(given)] = ""

    def _mix_path(self, case: AnyCase, dice: Random) -> str | None:
        """Put a live id into the path; gives the id that the path names in the end."""
        named = None
        chance = DELETED_IDS if case.path.endswith(":delete") else PATH_IDS
        for name, value in list(case.path_parameters.items()):
            found = self._live.pick(name, dice)
            if found is not None and _is_id(value) and dice.random() < chance:
                case.path_parameters = {**case.path_parameters, name: found}
            named = str(case.path_parameters[name])
        return named

    def _mix_query(self, case: AnyCase, dice: Random) -> None:
        """Put a live id where a list is to begin, and wait no longer than a moment."""
        query = dict(case.query)
        if _is_id(query.get("after")):
            owned = "documentId" if case.path.endswith("/documents") else "spaceId"
            query["after"] = self._live.pick(owned, dice) or query["after"]
        if isinstance(query.get("wait"), int | float) and query["wait"] > 1:
            query["wait"] = 1
        case.query = query

    def _mixed_body(self, body: dict[str, Any], target: str | None, dice: Random) -> dict[str, Any]:
        """The body with live values where there were fitting ones; some of them stay as they were generated."""
        mixed = dict(body)
        for name, value in body.items():
            if dice.random() < BODY_VALUES:
                mixed[name] = self._real(name, value, target, dice)
        return mixed

    def _real(self, name: str, value: object, target: str | None, dice: Random) -> object:
        match name, value:
            case "expectedVersion", int() if not isinstance(value, bool) and value >= 1:
                return self._live.version_of(target)
            case "defaultSecurityDomainCode", str() if _is_id(value):
                return "general"
            case "fileResourceId", str() if _is_id(value):
                return self._live.pick("fileResourceId", dice) or value
            case "knowledgeSpaceIds" | "documentIds", [_, *_] if all(_is_id(item) for item in value):
                found = self._live.pick(LISTS[name], dice)
                return [found] if found else value
            case "query", str() if value:
                return dice.choice(("hotel night", "trains before planes", value))
            case _:
                return value


def _fits(case: AnyCase, header: Header) -> bool:
    value = case.headers.get(header.name)
    return value is not None and header.min_length <= len(value) <= header.max_length


def _is_id(value: object) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None
