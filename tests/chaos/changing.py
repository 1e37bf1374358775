"""The load that changes things: every kind of request that is answered with a 202, and what goes with it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Final

import anyio

from shared.client.errors import BrokenAnswer, Refused
from shared.client.waiting import Waiting
from shared.contracts.admin import SwitchRequest
from shared.contracts.documents import (
    DocumentDeleteRequest,
    DocumentLockRequest,
    DocumentReplaceRequest,
    DocumentUpdateRequest,
    DocumentUploadRequest,
)
from shared.contracts.enums import DocumentStatus, SpaceStatus
from shared.contracts.errors import ErrorCode
from shared.contracts.ids import DocumentId, FileResourceId, SpaceId
from shared.contracts.operations import OperationReasonRequest
from shared.contracts.spaces import PROFILE_CODE, SpaceCreateRequest, SpaceDeleteRequest
from shared.domain.errors import Transient
from shared.telemetry.stamps import new_id
from tests.chaos.tenants import DOMAIN, Page, Tenant
from tests.chaos.texts import FILE_NAMES, FIRST_FILES, text_of

REASON: Final = "chaos"
STABLE: Final = 3
"""Documents of a tenant that are replaced and reindexed and never taken away."""
MOST_PAGES: Final = 40
SAME_TEXT: Final = 0.1
"""Of the new texts: one that was there before, whose file is shared then."""
BETWEEN: Final = 0.8
"""Seconds between two changes of one caller, on the average."""
MADE_WITHIN: Final = timedelta(minutes=5)
FIRST: Final = 1.0
EMPTY_TRIES: Final = 20


class Changer:
    """One caller of a tenant that changes things, one after the other."""

    def __init__(self, tenant: Tenant, stop: anyio.Event) -> None:
        self._tenant = tenant
        self._dice = tenant.dice
        self._stop = stop
        self._actions: dict[Callable[[], Awaitable[None]], float] = {
            self._upload: 6,
            self._replace: 7,
            self._reindex: 4,
            self._cancel: 4,
            self._delete: 2,
            self._retry: 3,
            self._switch: 2,
            self._rename: 1,
            self._live_a_space: 0.4,
        }

    async def prepare(self) -> None:
        """The tenant's space and its stable documents, which are not waited for."""
        space_id = await self._make_space("main")
        for _ in range(STABLE):
            await self._new_page(space_id, is_stable=True)

    async def run(self) -> None:
        """Change things until it is time to stop; what was begun is finished."""
        while not self._stop.is_set():
            (action,) = self._dice.choices(list(self._actions), weights=list(self._actions.values()))
            try:
                await action()
            except Refused as refused:
                self._tenant.ledger.refused[refused.answer.code] += 1
                if refused.code is ErrorCode.INTERNAL_ERROR:
                    self._tenant.ledger.strange[f"{action.__name__}: {refused.answer}"] += 1
            except BrokenAnswer as broken:
                self._tenant.ledger.strange[str(broken)] += 1
            with anyio.move_on_after(self._dice.expovariate(1 / BETWEEN)):
                await self._stop.wait()

    async def _upload(self) -> None:
        if len(self._tenant.pages) < MOST_PAGES:
            await self._new_page(self._tenant.spaces[0])

    async def _new_page(self, space_id: SpaceId, *, is_stable: bool = False) -> DocumentId:
        file, mark = await self._send(FIRST_FILES if is_stable else FILE_NAMES)
        request = DocumentUploadRequest(file_resource_id=file, document_name=mark)

        async def ask(key: str) -> DocumentId:
            accepted = await self._tenant.gateway.upload_document(space_id, request, key=key)
            page = Page(document_id=accepted.document_id, space_id=space_id, is_stable=is_stable)
            self._tenant.pages.setdefault(accepted.document_id, page)
            self._tenant.promised(accepted.operation_id, key, accepted.document_id)
            return accepted.document_id

        return await self._tenant.change("upload", ask)

    async def _send(self, names: tuple[str, ...]) -> tuple[FileResourceId, str]:
        """Bring a file; it is sent again from the beginning until it is taken."""
        tenant = self._tenant
        is_old = tenant.texts > 0 and self._dice.random() < SAME_TEXT
        mark = f"mark-{tenant.name}-{self._dice.randint(1, tenant.texts)}" if is_old else tenant.next_mark()
        content, name = text_of(mark), self._dice.choice(names)

        async def pieces() -> AsyncIterator[bytes]:
            yield content

        while True:
            tenant.ledger.interrupted_uploads += 1
            try:
                file = await tenant.files.upload(name, pieces, size=len(content))
            except Transient as error:
                await anyio.sleep((error.retry_after or timedelta(seconds=0.5)).total_seconds())
            else:
                tenant.ledger.interrupted_uploads -= 1
                return file.file_resource_id, mark

    async def _replace(self) -> None:
        page = self._any_page()
        document = await self._tenant.gateway.get_document(page.document_id)
        file, _ = await self._send(FILE_NAMES)
        request = DocumentReplaceRequest(file_resource_id=file, expected_version=document.lock_version)

        async def ask(key: str) -> None:
            accepted = await self._tenant.gateway.replace_document(page.document_id, request, key=key)
            self._tenant.promised(accepted.operation_id, key, page.document_id)

        await self._tenant.change("replace", ask)

    async def _reindex(self) -> None:
        page = self._any_page()
        document = await self._tenant.gateway.get_document(page.document_id)
        request = DocumentLockRequest(expected_version=document.lock_version)

        async def ask(key: str) -> None:
            accepted = await self._tenant.gateway.reindex_document(page.document_id, request, key=key)
            self._tenant.promised(accepted.operation_id, key, page.document_id)

        await self._tenant.change("reindex", ask)

    async def _cancel(self) -> None:
        if not self._tenant.running:
            return
        operation_id = self._dice.choice(list(self._tenant.running))
        request = OperationReasonRequest(reason=REASON)
        await self._tenant.change(
            "cancel", lambda key: self._tenant.gateway.cancel_operation(operation_id, request, key=key)
        )

    async def _delete(self) -> None:
        page = self._passing_page()
        if page is not None:
            await self._take_away(page)

    async def _take_away(self, page: Page) -> None:
        document = await self._tenant.gateway.get_document(page.document_id)
        request = DocumentDeleteRequest(expected_version=document.lock_version, reason=REASON)

        async def ask(key: str) -> None:
            accepted = await self._tenant.gateway.delete_document(page.document_id, request, key=key)
            self._tenant.promised(accepted.operation_id, key, page.document_id)
            self._tenant.pages.pop(page.document_id, None)

        await self._tenant.change("delete", ask)

    async def _retry(self) -> None:
        if not self._tenant.failed:
            return
        operation_id = self._tenant.failed.pop(self._dice.randrange(len(self._tenant.failed)))
        request = OperationReasonRequest(reason=REASON)

        async def ask(key: str) -> None:
            accepted = await self._tenant.gateway.retry_operation(operation_id, request, key=key)
            self._tenant.promised(accepted.operation_id, key)

        await self._tenant.change("retry", ask)

    async def _switch(self) -> None:
        page = self._passing_page()
        if page is None:
            return
        gateway = self._tenant.gateway
        document = await gateway.get_document(page.document_id)
        request = DocumentLockRequest(expected_version=document.lock_version)
        switch = gateway.enable_document if document.status is DocumentStatus.DISABLED else gateway.disable_document
        await self._tenant.change("switch", lambda key: switch(page.document_id, request, key=key))

    async def _rename(self) -> None:
        page = self._any_page()
        document = await self._tenant.gateway.get_document(page.document_id)
        request = DocumentUpdateRequest(name=f"Renamed {new_id('name')}", expected_version=document.lock_version)
        await self._tenant.change(
            "rename", lambda key: self._tenant.gateway.update_document(page.document_id, request, key=key)
        )

    async def _make_space(self, name: str) -> SpaceId:
        """A space once it can take documents."""
        request = SpaceCreateRequest(
            code=f"{name}-{new_id('code')}".replace("_", "-"),
            name=name,
            profile_code=PROFILE_CODE,
            default_security_domain_code=DOMAIN,
        )
        space = await self._tenant.change("space", lambda key: self._tenant.gateway.create_space(request, key=key))
        made = await Waiting(within=MADE_WITHIN).for_space(self._tenant.gateway, space.space_id)
        if made.status is SpaceStatus.ACTIVE:
            self._tenant.spaces.append(made.space_id)
        return made.space_id

    async def _live_a_space(self) -> None:
        """A space's whole life: made, filled, taken out of use and back, emptied, deleted."""
        space_id = await self._make_space("passing")
        document_id = await self._new_page(space_id)
        if self._dice.random() < 0.5:
            await self._tenant.administration.disable_space(space_id, SwitchRequest(reason=REASON))
            await anyio.sleep(self._dice.random())
            await self._tenant.administration.enable_space(space_id, SwitchRequest(reason=REASON))
        page = self._tenant.pages.get(document_id)
        if page is not None:
            await self._take_away(page)
        for _ in range(EMPTY_TRIES):
            space = await self._tenant.gateway.get_space(space_id)
            if await self._delete_space(space_id, space.version) or self._stop.is_set():
                return
            await anyio.sleep(FIRST)

    async def _delete_space(self, space_id: SpaceId, version: int) -> bool:
        """Whether it was accepted; a space that still holds something refuses."""
        request = SpaceDeleteRequest(expected_version=version, reason=REASON)

        async def ask(key: str) -> None:
            accepted = await self._tenant.gateway.delete_space(space_id, request, key=key)
            self._tenant.promised(accepted.operation_id, key)

        try:
            await self._tenant.change("space-delete", ask)
        except Refused as refused:
            if refused.code in {ErrorCode.SPACE_NOT_EMPTY, ErrorCode.SPACE_HAS_PENDING_OPERATIONS}:
                return False
            raise
        return True

    def _any_page(self) -> Page:
        return self._dice.choice(list(self._tenant.pages.values()))

    def _passing_page(self) -> Page | None:
        """One that may be taken away."""
        passing = [page for page in self._tenant.pages.values() if not page.is_stable]
        return self._dice.choice(passing) if passing else None
