"""Pages of a list: what is asked for, what is answered, and the arithmetic between them."""

from typing import Annotated, Final, Generic, Self, TypeVar

from pydantic import BeforeValidator, Field, model_validator

from shared.contracts.body import Body, Whole
from shared.contracts.ids import DocumentId, SpaceId
from shared.contracts.text import ID
from shared.contracts.wire import Maybe

MAX_PAGE_SIZE: Final = 100
DEFAULT_PAGE_SIZE: Final = 20

Kind = TypeVar("Kind")
Item_co = TypeVar("Item_co", bound=Body, covariant=True)


def _as_text(value: object) -> object:
    """An id may look like a number, and a query string's numbers are read already."""
    return str(value) if isinstance(value, int) else value


AskedId = Annotated[Kind, ID, BeforeValidator(_as_text)]
"""``AskedId[SpaceId]``: an identifier in a query string."""


class ListQuery(Body):
    """Which page of a list is wanted."""

    page: Annotated[int, Whole(1)] = 1
    page_size: Annotated[int, Whole(1, MAX_PAGE_SIZE)] = DEFAULT_PAGE_SIZE

    @property
    def offset(self) -> int:
        """How many items come before this page."""
        return (self.page - 1) * self.page_size


class SpaceListQuery(ListQuery):
    """Beside the contract: go through a list that changes meanwhile without missing or repeating what stays."""

    after: Annotated[
        Maybe[AskedId[SpaceId]],
        Field(description="The list begins after this space; pages and totals count from there."),
    ] = None


class DocumentListQuery(ListQuery):
    """Beside the contract: go through a list that changes meanwhile without missing or repeating what stays."""

    after: Annotated[
        Maybe[AskedId[DocumentId]],
        Field(description="The list begins after this document; pages and totals count from there."),
    ] = None


class Listing(Body, Generic[Item_co]):
    """The data of a list's answer: the items of one page and nothing else."""

    items: Annotated[tuple[Item_co, ...], Field(max_length=MAX_PAGE_SIZE)]


class Pagination(Body):
    """Where a page stands in its list. The client recomputes every figure and refuses one that is off."""

    page: Annotated[int, Whole(1)]
    page_size: Annotated[int, Whole(1, MAX_PAGE_SIZE)]
    total_items: Annotated[int, Whole(0)]
    total_pages: Annotated[int, Whole(0)]
    has_next: bool

    @classmethod
    def of(cls, page: int, page_size: int, total_items: int) -> Self:
        """The pagination of `page` in a list of `total_items`; a page past the end is legal and empty."""
        total_pages = -(-total_items // page_size)
        return cls(
            page=page,
            page_size=page_size,
            total_items=total_items,
            total_pages=total_pages,
            has_next=page < total_pages,
        )

    @property
    def most_items(self) -> int:
        """How many items this page may hold."""
        return max(0, min(self.page_size, self.total_items - (self.page - 1) * self.page_size))

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.total_pages != -(-self.total_items // self.page_size):
            raise ValueError("totalPages must be totalItems divided by pageSize, rounded up")
        if self.has_next != (self.page < self.total_pages):
            raise ValueError("hasNext must tell whether page is before totalPages")
        return self
