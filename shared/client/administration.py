"""The admin API as its callers see it: one method for each route, with the models of `contracts.admin`."""

from collections.abc import Mapping
from typing import TypeVar

from shared.client.exchange import Exchange
from shared.client.gateway import Page
from shared.contracts import admin
from shared.contracts.body import Body
from shared.contracts.documents import EmptyRequest
from shared.contracts.envelope import Envelope, ListEnvelope
from shared.contracts.ids import SpaceId, SubjectId
from shared.contracts.paging import DEFAULT_PAGE_SIZE
from shared.contracts.route import Route
from shared.contracts.spaces import Space
from shared.telemetry.stamps import NewId, new_id

Data = TypeVar("Data")


class Administration:
    """A gateway's administration, in one caller's name.

    Every call of a change has an idempotency key of its own, which its repetitions share: to disable, enable and
    disable again are three changes, where a key made of the request would make two of them. Raises what
    `shared.client.errors` lists.
    """

    def __init__(self, exchange: Exchange, *, make_id: NewId = new_id) -> None:
        self._exchange = exchange
        self._make_id = make_id

    async def list_grants(
        self, space_id: SpaceId, page: int = 1, page_size: int = DEFAULT_PAGE_SIZE
    ) -> Page[admin.Grant]:
        """One page of the grants on a space and on documents of it."""
        answer = await self._exchange.ask(
            admin.GRANT_LIST,
            ListEnvelope[admin.GrantList],
            ids={"spaceId": space_id},
            query={"page": page, "pageSize": page_size},
        )
        return Page(items=answer.data.items, pagination=answer.meta.pagination)

    async def add_grant(self, space_id: SpaceId, request: admin.GrantRequest) -> admin.Grant:
        """Grant a space, or one document of it."""
        return await self._change(admin.GRANT_ADD, Envelope[admin.Grant], {"spaceId": space_id}, request)

    async def revoke_grant(self, space_id: SpaceId, request: admin.GrantRequest) -> admin.Grant:
        """Take such a grant back."""
        return await self._change(admin.GRANT_REVOKE, Envelope[admin.Grant], {"spaceId": space_id}, request)

    async def list_accounts(self, page: int = 1, page_size: int = DEFAULT_PAGE_SIZE) -> Page[admin.Account]:
        """One page of the tenant's accounts."""
        query = {"page": page, "pageSize": page_size}
        answer = await self._exchange.ask(admin.ACCOUNT_LIST, ListEnvelope[admin.AccountList], query=query)
        return Page(items=answer.data.items, pagination=answer.meta.pagination)

    async def get_account(self, subject: SubjectId) -> admin.Account:
        """One account."""
        ids = {"subject": subject}
        return (await self._exchange.ask(admin.ACCOUNT_GET, Envelope[admin.Account], ids=ids)).data

    async def put_account(self, subject: SubjectId, request: admin.AccountPutRequest) -> admin.Account:
        """Give an account all its memberships; it is managed from then on."""
        return await self._change(admin.ACCOUNT_PUT, Envelope[admin.Account], {"subject": subject}, request)

    async def disable_account(self, subject: SubjectId, request: admin.SwitchRequest) -> admin.Account:
        """Shut a user out."""
        return await self._change(admin.ACCOUNT_DISABLE, Envelope[admin.Account], {"subject": subject}, request)

    async def enable_account(self, subject: SubjectId, request: admin.SwitchRequest) -> admin.Account:
        """Let a user in again."""
        return await self._change(admin.ACCOUNT_ENABLE, Envelope[admin.Account], {"subject": subject}, request)

    async def list_revocations(self, page: int = 1, page_size: int = DEFAULT_PAGE_SIZE) -> Page[admin.Revocation]:
        """One page of what is revoked."""
        query = {"page": page, "pageSize": page_size}
        answer = await self._exchange.ask(admin.REVOCATION_LIST, ListEnvelope[admin.RevocationList], query=query)
        return Page(items=answer.data.items, pagination=answer.meta.pagination)

    async def revoke(self, request: admin.RevocationRequest) -> admin.Revocation:
        """Refuse what was issued until now."""
        return await self._change(admin.REVOCATION_CREATE, Envelope[admin.Revocation], {}, request)

    async def list_tokens(self, page: int = 1, page_size: int = DEFAULT_PAGE_SIZE) -> Page[admin.ServiceToken]:
        """One page of the tenant's service tokens."""
        query = {"page": page, "pageSize": page_size}
        answer = await self._exchange.ask(admin.TOKEN_LIST, ListEnvelope[admin.ServiceTokenList], query=query)
        return Page(items=answer.data.items, pagination=answer.meta.pagination)

    async def create_token(self, request: admin.ServiceTokenRequest) -> admin.ServiceTokenCreated:
        """Make a service token. `token` is absent if the first answer was lost: then it is known to nobody."""
        return await self._change(admin.TOKEN_CREATE, Envelope[admin.ServiceTokenCreated], {}, request)

    async def revoke_token(self, token_id: str) -> admin.ServiceToken:
        """End a service token."""
        ids = {"tokenId": token_id}
        return await self._change(admin.TOKEN_REVOKE, Envelope[admin.ServiceToken], ids, EmptyRequest())

    async def disable_space(self, space_id: SpaceId, request: admin.SwitchRequest) -> Space:
        """Take a space out of use."""
        return await self._change(admin.SPACE_DISABLE, Envelope[Space], {"spaceId": space_id}, request)

    async def enable_space(self, space_id: SpaceId, request: admin.SwitchRequest) -> Space:
        """Take a space into use again."""
        return await self._change(admin.SPACE_ENABLE, Envelope[Space], {"spaceId": space_id}, request)

    async def _change(self, route: Route, answer: type[Envelope[Data]], ids: Mapping[str, str], body: Body) -> Data:
        key = self._make_id("key")
        return (await self._exchange.ask(route, answer, ids=ids, body=body, key=key)).data
