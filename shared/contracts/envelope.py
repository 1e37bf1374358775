"""The envelope around every JSON answer: exactly `data` and `meta`."""

from datetime import datetime
from typing import Annotated, Final, Generic, Literal, Self, TypeVar

from pydantic import Field, model_validator

from shared.contracts.body import Body
from shared.contracts.errors import ApiError
from shared.contracts.paging import Listing, Pagination
from shared.contracts.wire import UtcTime

MAX_META_ID: Final = 128
"""Request and trace ids in an answer; the request header may hold 256, so it is never echoed blindly."""

MetaId = Annotated[str, Field(min_length=1, max_length=MAX_META_ID)]

Data = TypeVar("Data")
Page = TypeVar("Page", bound=Listing[Body])


class SuccessMeta(Body):
    """`meta` of a success that is not a list."""

    success: Literal[True]
    request_id: MetaId
    trace_id: MetaId
    timestamp: UtcTime
    api_version: Literal["v1"]
    pagination: None
    error: None

    @classmethod
    def of(cls, request_id: str, trace_id: str, timestamp: datetime) -> Self:
        """The meta of a success; ids longer than the contract allows are cut."""
        return cls(
            success=True,
            request_id=request_id[:MAX_META_ID],
            trace_id=trace_id[:MAX_META_ID],
            timestamp=timestamp,
            api_version="v1",
            pagination=None,
            error=None,
        )


class ListSuccessMeta(Body):
    """`meta` of a list."""

    success: Literal[True]
    request_id: MetaId
    trace_id: MetaId
    timestamp: UtcTime
    api_version: Literal["v1"]
    pagination: Pagination
    error: None

    @classmethod
    def of(cls, request_id: str, trace_id: str, timestamp: datetime, pagination: Pagination) -> Self:
        """The meta of a list; ids longer than the contract allows are cut."""
        return cls(
            success=True,
            request_id=request_id[:MAX_META_ID],
            trace_id=trace_id[:MAX_META_ID],
            timestamp=timestamp,
            api_version="v1",
            pagination=pagination,
            error=None,
        )


class ErrorMeta(Body):
    """`meta` of everything that is not a success."""

    success: Literal[False]
    request_id: MetaId
    trace_id: MetaId
    timestamp: UtcTime
    api_version: Literal["v1"]
    pagination: None
    error: ApiError

    @classmethod
    def of(cls, request_id: str, trace_id: str, timestamp: datetime, error: ApiError) -> Self:
        """The meta of an error; ids longer than the contract allows are cut."""
        return cls(
            success=False,
            request_id=request_id[:MAX_META_ID],
            trace_id=trace_id[:MAX_META_ID],
            timestamp=timestamp,
            api_version="v1",
            pagination=None,
            error=error,
        )


class Envelope(Body, Generic[Data]):
    """A success that is not a list."""

    data: Data
    meta: SuccessMeta


class ListEnvelope(Body, Generic[Page]):
    """A success that is a list; it never holds more items than its pagination has room for."""

    data: Page
    meta: ListSuccessMeta

    @model_validator(mode="after")
    def _items_fit_the_page(self) -> Self:
        if len(self.data.items) > self.meta.pagination.most_items:
            raise ValueError("a page must not hold more items than its pagination leaves room for")
        return self


class ErrorEnvelope(Body):
    """The answer to every request that did not succeed, the framework's own errors included."""

    data: None
    meta: ErrorMeta

    @classmethod
    def of(cls, request_id: str, trace_id: str, timestamp: datetime, error: ApiError) -> Self:
        """Wrap an error."""
        return cls(data=None, meta=ErrorMeta.of(request_id, trace_id, timestamp, error))
