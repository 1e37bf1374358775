"""Who is calling: the headers that every request carries, checked one by one and then by `auth`."""

import re
from collections.abc import Mapping
from typing import Final, Protocol

from services.api.edge.stamps import is_acceptable
from shared.contracts.route import AUTHORIZATION_HEADER, CALLER_HEADERS, SESSION_ID, USER_ASSERTION
from shared.domain.errors import Unauthenticated
from shared.domain.identity import Caller

LONGEST_TOKEN: Final = 8192
_TOKEN: Final = re.compile(r"[A-Za-z]+ [\x21-\x7e]+")


class Authenticates(Protocol):
    """Tells who a service token and a user assertion stand for; `auth` satisfies it."""

    async def authenticate(self, authorization: str | None, assertion: str | None, session_id: str | None) -> Caller:
        """The caller; Unauthenticated for any reason at all."""


async def identify(headers: Mapping[str, str], authenticator: Authenticates) -> Caller:
    """The caller of a request; Unauthenticated when anything at all is missing, malformed or not valid."""
    for header in CALLER_HEADERS:
        if not is_acceptable(headers.get(header.name.lower()), header):
            raise Unauthenticated
    authorization = headers.get(AUTHORIZATION_HEADER.lower(), "")
    if len(authorization) > LONGEST_TOKEN or _TOKEN.fullmatch(authorization) is None:
        raise Unauthenticated
    assertion, session_id = headers[USER_ASSERTION.name.lower()], headers[SESSION_ID.name.lower()]
    return await authenticator.authenticate(authorization, assertion, session_id)
