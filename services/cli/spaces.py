"""Finds the space of a code, and makes it when it is wanted and missing."""

from datetime import timedelta

from services.cli.complaints import Complaint
from shared.client.gateway import Gateway
from shared.client.waiting import Waiting
from shared.contracts.enums import SpaceStatus
from shared.contracts.ids import SpaceId
from shared.contracts.spaces import PROFILE_CODE, Space, SpaceCreateRequest

CREATED_WITHIN = timedelta(minutes=2)


async def require_space(gateway: Gateway, code: str) -> Space:
    """The space of that code."""
    space = await gateway.find_space(code)
    if space is None:
        raise Complaint(
            f"There is no space {code!r}, or you may not see it.",
            "Check the spelling, or make it: `knowgate ingest PATH --space CODE --create`.",
        )
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


async def space_id_of(gateway: Gateway, text: str) -> SpaceId:
    """The id of the visible space of that code; any other text is taken for an id, which the gateway looks up."""
    space = await gateway.find_space(text)
    return SpaceId(text) if space is None else space.space_id
