"""Finds the space of a code, and makes it when it is wanted and missing."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from services.cli.complaints import Complaint
from shared.client.errors import Refused
from shared.client.gateway import Gateway
from shared.client.waiting import Waiting
from shared.contracts.enums import SpaceStatus
from shared.contracts.errors import ErrorCode
from shared.contracts.ids import SpaceId
from shared.contracts.spaces import PROFILE_CODE, Space, SpaceCreateRequest

Found = TypeVar("Found")

CREATED_WITHIN = timedelta(minutes=2)
SPELLING = "Check the spelling, and that this is the gateway and the account that may see it."


async def require_space(gateway: Gateway, code: str, *, remedy: str = SPELLING) -> Space:
    """The space of that code; `remedy` is told when there is none."""
    space = await gateway.find_space(code)
    if space is None:
        raise _missing(code, remedy)
    return space


async def ensure_space(gateway: Gateway, code: str, *, domain: str) -> Space:
    """The space of that code, made if need be, once it can take documents."""
    space = await gateway.find_space(code)
    if space is None:
        created = await gateway.create_space(
            SpaceCreateRequest(code=code, name=code, profile_code=PROFILE_CODE, default_security_domain_code=domain)
        )
        space = await gateway.get_space(created.space_id)
    space = await Waiting(within=CREATED_WITHIN).for_space(gateway, space.space_id)
    if space.status is not SpaceStatus.ACTIVE:
        raise Complaint(f"The space {code!r} is {space.status.value} and takes no documents.")
    return space


async def ask_of_space(gateway: Gateway, text: str, ask: Callable[[SpaceId], Awaitable[Found]]) -> Found:
    """What `ask` gets for the visible space of that code; any other text is taken for an id."""
    space = await gateway.find_space(text)
    try:
        return await ask(SpaceId(text) if space is None else space.space_id)
    except Refused as refused:
        if refused.code is not ErrorCode.SPACE_NOT_FOUND:
            raise
        remedy = "Check the spelling; a space that you may manage but not see goes by its id."
        raise _missing(text, remedy) from None


def _missing(text: str, remedy: str) -> Complaint:
    return Complaint(f"There is no space {text!r}, or you may not see it.", remedy)
