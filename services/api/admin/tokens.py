"""Service tokens of the tenant: list, create, revoke."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from services.api.admin.replays import may_manage
from services.api.admin.views import token_body
from services.api.audit.trail import AuditTrail
from services.api.edge.answers import Answer, page_of
from services.api.edge.call import Call, Handler
from services.api.moves import Moves
from services.api.paging import page_query
from shared.auth.service_tokens import mint_token
from shared.contracts.admin import (
    TOKEN_CREATE,
    TOKEN_LIST,
    TOKEN_REVOKE,
    ServiceToken,
    ServiceTokenCreated,
    ServiceTokenList,
    ServiceTokenRequest,
)
from shared.contracts.documents import EmptyRequest
from shared.contracts.enums import Action
from shared.contracts.paging import ListQuery
from shared.contracts.route import Route
from shared.database.service_tokens import list_tokens
from shared.domain.authorization import require_action
from shared.lifecycle.service_tokens import create_service_token, revoke_service_token


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRoutes:
    """The tokens by which services speak for the tenant."""

    moves: Moves
    trail: AuditTrail
    most_items: int

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {TOKEN_LIST: self.list, TOKEN_CREATE: self.create, TOKEN_REVOKE: self.revoke}

    async def list(self, call: Call) -> Answer:
        """One page of the tokens, revoked ones among them."""
        require_action(call.caller, Action.MANAGE_TOKENS, self.moves.roles)
        query = page_query(call, ListQuery, self.most_items)
        tokens, total = await self.moves.database.read(
            lambda conn: list_tokens(conn, call.caller.tenant, page=query.page, page_size=query.page_size)
        )
        await self.trail.read(call, None, None, {"page": query.page, "tokens": len(tokens)})
        return page_of(ServiceTokenList(items=tuple(token_body(token, ServiceToken) for token in tokens)), query, total)

    async def create(self, call: Call) -> Answer:
        """Make a token. Its text is in this answer and nowhere else: a repeated answer does without it."""
        body = await call.read(ServiceTokenRequest)
        new = mint_token(self.moves.around.new_id)
        answer = await self.moves.accept(
            call,
            body,
            lambda conn, request: create_service_token(conn, new, body, request, self.moves.around),
            needs_broker=False,
            view=lambda done: token_body(done.kept, ServiceTokenCreated),
            reauthorise=may_manage(call, Action.MANAGE_TOKENS, self.moves.roles),
        )
        if answer.is_replay:
            return answer
        created = ServiceTokenCreated.model_validate_json(answer.content).model_copy(update={"token": new.text})
        return replace(answer, content=created.to_json())

    async def revoke(self, call: Call) -> Answer:
        """End a token."""
        token_id = call.id("tokenId", str)
        body = await call.read(EmptyRequest)
        return await self.moves.accept(
            call,
            body,
            lambda conn, request: revoke_service_token(conn, token_id, request, self.moves.around),
            needs_broker=False,
            view=lambda done: token_body(done.kept, ServiceToken),
            reauthorise=may_manage(call, Action.MANAGE_TOKENS, self.moves.roles),
        )
