"""How routes of the admin API are declared."""

from typing import Final

from shared.contracts.body import Body
from shared.contracts.enums import Action
from shared.contracts.route import Approval, Concurrency, Route, Toolset

ADMIN_PREFIX: Final = "/admin/v1"


def admin_read(
    tool: str,
    path: str,
    data: type[Body],
    action: Action,
    *,
    query: type[Body] | None = None,
    own_query: type[Body] | None = None,
) -> Route:
    """A route that tells something."""
    return Route(
        tool=tool,
        method="GET",
        path=ADMIN_PREFIX + path,
        success_status=200,
        query=query,
        own_query=own_query,
        data=data,
        actions=(action,),
        approval=Approval.ALLOW,
        concurrency=Concurrency.PARALLEL,
        toolset=Toolset.ADMIN,
        client_may_retry=True,
    )


def admin_change(
    tool: str,
    path: str,
    request: type[Body],
    data: type[Body],
    action: Action,
    *,
    method: str = "POST",
    status: int = 200,
) -> Route:
    """A route that changes something."""
    return Route(
        tool=tool,
        method=method,
        path=ADMIN_PREFIX + path,
        success_status=status,
        request=request,
        data=data,
        actions=(action,),
        approval=Approval.ASK,
        concurrency=Concurrency.EXCLUSIVE,
        toolset=Toolset.ADMIN,
        idempotency_key=True,
    )
