"""Accounts of the tenant: list, get, put, disable, enable."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.api.admin.replays import may_manage
from services.api.admin.views import account_body
from services.api.audit.trail import AuditTrail
from services.api.edge.answers import Answer, found, page_of
from services.api.edge.call import Call, Handler
from services.api.moves import Move, Moves
from services.api.paging import page_query
from shared.contracts.admin import (
    ACCOUNT_DISABLE,
    ACCOUNT_ENABLE,
    ACCOUNT_GET,
    ACCOUNT_LIST,
    ACCOUNT_PUT,
    AccountList,
    AccountPutRequest,
    SwitchRequest,
)
from shared.contracts.body import Body
from shared.contracts.enums import Action
from shared.contracts.ids import SubjectId
from shared.contracts.paging import ListQuery
from shared.contracts.route import Route
from shared.database.accounts import Account, list_accounts, load_account
from shared.domain.authorization import require_action
from shared.lifecycle.accounts import AccountNotFound, put_account, switch_account
from shared.lifecycle.administering import Administered


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountRoutes:
    """The users of the tenant as the gateway itself knows them."""

    moves: Moves
    trail: AuditTrail
    most_items: int

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {
            ACCOUNT_LIST: self.list,
            ACCOUNT_GET: self.get,
            ACCOUNT_PUT: self.put,
            ACCOUNT_DISABLE: self.disable,
            ACCOUNT_ENABLE: self.enable,
        }

    async def list(self, call: Call) -> Answer:
        """One page of the accounts."""
        require_action(call.caller, Action.MANAGE_ACCESS, self.moves.roles)
        query = page_query(call, ListQuery, self.most_items)
        accounts, total = await self.moves.database.read(
            lambda conn: list_accounts(conn, call.caller.tenant, page=query.page, page_size=query.page_size)
        )
        await self.trail.read(call, None, None, {"page": query.page, "accounts": len(accounts)})
        return page_of(AccountList(items=tuple(account_body(account) for account in accounts)), query, total)

    async def get(self, call: Call) -> Answer:
        """One account."""
        require_action(call.caller, Action.MANAGE_ACCESS, self.moves.roles)
        subject = call.id("subject", SubjectId)
        account = await self.moves.database.read(lambda conn: load_account(conn, call.caller.tenant, subject))
        if account is None:
            raise AccountNotFound
        await self.trail.read(call, None, subject, {})
        return found(account_body(account))

    async def put(self, call: Call) -> Answer:
        """Give an account its memberships."""
        subject = call.id("subject", SubjectId)
        body = await call.read(AccountPutRequest)
        return await self._change(
            call, body, lambda conn, request: put_account(conn, subject, body, request, self.moves.around)
        )

    async def disable(self, call: Call) -> Answer:
        """Shut a user out."""
        return await self._switch(call, enabled=False)

    async def enable(self, call: Call) -> Answer:
        """Let a user in again."""
        return await self._switch(call, enabled=True)

    async def _switch(self, call: Call, *, enabled: bool) -> Answer:
        subject = call.id("subject", SubjectId)
        body = await call.read(SwitchRequest)
        around = self.moves.around
        return await self._change(
            call,
            body,
            lambda conn, request: switch_account(
                conn, subject, enabled=enabled, reason=body.reason, request=request, around=around
            ),
        )

    async def _change(self, call: Call, body: Body, move: Move[Administered[Account]]) -> Answer:
        return await self.moves.accept(
            call,
            body,
            move,
            needs_broker=False,
            view=lambda done: account_body(done.kept),
            reauthorise=may_manage(call, Action.MANAGE_ACCESS, self.moves.roles),
        )
