"""The admin API for those who keep a gateway running: unfinished work, dead letters, reconciliations, the audit."""

from collections.abc import Mapping
from typing import TypeVar

from shared.client.exchange import Exchange
from shared.client.gateway import Page
from shared.contracts import operating
from shared.contracts.body import Body
from shared.contracts.enums import LetterStatus
from shared.contracts.envelope import Envelope, ListEnvelope
from shared.contracts.ids import LetterId, OperationId, ReconciliationId
from shared.contracts.operations import Operation, OperationReasonRequest
from shared.contracts.paging import DEFAULT_PAGE_SIZE
from shared.contracts.route import Route
from shared.telemetry.stamps import NewId, new_id

Data = TypeVar("Data")


class Operating:
    """What an operator asks of a gateway, in one caller's name. See `Administration` for the keys of changes."""

    def __init__(self, exchange: Exchange, *, make_id: NewId = new_id) -> None:
        self._exchange = exchange
        self._make_id = make_id

    async def list_unfinished(
        self,
        page: int = 1,
        page_size: int = DEFAULT_PAGE_SIZE,
        *,
        overdue: bool = False,
        older_than_seconds: int | None = None,
    ) -> Page[operating.UnfinishedOperation]:
        """One page of the tenant's unfinished operations, the one that has been still for longest first."""
        asked: dict[str, int | str] = {"overdue": "true" if overdue else "false"}
        if older_than_seconds is not None:
            asked["olderThanSeconds"] = older_than_seconds
        query = {"page": page, "pageSize": page_size, **asked}
        answer = await self._exchange.ask(
            operating.UNFINISHED_LIST, ListEnvelope[operating.UnfinishedList], query=query
        )
        return Page(items=answer.data.items, pagination=answer.meta.pagination)

    async def get_unfinished(self, operation_id: OperationId) -> operating.UnfinishedOperation:
        """Why an operation has not ended."""
        answer = Envelope[operating.UnfinishedOperation]
        return await self._get(operating.UNFINISHED_GET, answer, {"operationId": operation_id})

    async def fail_operation(self, operation_id: OperationId, request: OperationReasonRequest) -> Operation:
        """End an operation, whatever it waits for."""
        ids = {"operationId": operation_id}
        return await self._change(operating.OPERATION_FAIL, Envelope[Operation], ids, request)

    async def list_letters(
        self, page: int = 1, page_size: int = DEFAULT_PAGE_SIZE, *, status: LetterStatus = LetterStatus.OPEN
    ) -> Page[operating.DeadLetter]:
        """One page of the dead letters in one status, the oldest first."""
        query = {"page": page, "pageSize": page_size, "status": status.value}
        answer = await self._exchange.ask(operating.LETTER_LIST, ListEnvelope[operating.DeadLetterList], query=query)
        return Page(items=answer.data.items, pagination=answer.meta.pagination)

    async def get_letter(self, letter_id: LetterId) -> operating.DeadLetterFull:
        """One dead letter with its message."""
        return await self._get(operating.LETTER_GET, Envelope[operating.DeadLetterFull], {"letterId": letter_id})

    async def replay_letter(self, letter_id: LetterId, request: OperationReasonRequest) -> operating.DeadLetter:
        """Have the event in a dead letter applied again."""
        ids = {"letterId": letter_id}
        return await self._change(operating.LETTER_REPLAY, Envelope[operating.DeadLetter], ids, request)

    async def discard_letter(self, letter_id: LetterId, request: OperationReasonRequest) -> operating.DeadLetter:
        """Give a dead letter up."""
        ids = {"letterId": letter_id}
        return await self._change(operating.LETTER_DISCARD, Envelope[operating.DeadLetter], ids, request)

    async def request_reconciliation(self, request: operating.ReconciliationRequest) -> operating.Reconciliation:
        """Ask for a reconciliation; looking at it tells when it has ended."""
        answer = Envelope[operating.Reconciliation]
        return await self._change(operating.RECONCILIATION_CREATE, answer, {}, request)

    async def list_reconciliations(
        self, page: int = 1, page_size: int = DEFAULT_PAGE_SIZE
    ) -> Page[operating.Reconciliation]:
        """One page of the reconciliations, the newest first, without what they have found."""
        query = {"page": page, "pageSize": page_size}
        form = ListEnvelope[operating.ReconciliationList]
        answer = await self._exchange.ask(operating.RECONCILIATION_LIST, form, query=query)
        return Page(items=answer.data.items, pagination=answer.meta.pagination)

    async def get_reconciliation(self, reconciliation_id: ReconciliationId) -> operating.Reconciliation:
        """One reconciliation with what it has found."""
        ids = {"reconciliationId": reconciliation_id}
        return await self._get(operating.RECONCILIATION_GET, Envelope[operating.Reconciliation], ids)

    async def read_audit(self, after: int = 0, limit: int = 100, *, latest: bool = False) -> operating.AuditPage:
        """Entries of the tenant's audit behind `after`, or its `latest`, in the order of their chain."""
        query: dict[str, int | str] = {"after": after, "limit": limit, "latest": "true" if latest else "false"}
        answer = await self._exchange.ask(operating.AUDIT_READ, Envelope[operating.AuditPage], query=query)
        return answer.data

    async def _get(self, route: Route, answer: type[Envelope[Data]], ids: Mapping[str, str]) -> Data:
        return (await self._exchange.ask(route, answer, ids=ids)).data

    async def _change(self, route: Route, answer: type[Envelope[Data]], ids: Mapping[str, str], body: Body) -> Data:
        key = self._make_id("key")
        return (await self._exchange.ask(route, answer, ids=ids, body=body, key=key)).data
