"""Pages add up as the client recomputes them."""

import pytest
from pydantic import ValidationError

from shared.contracts.paging import ListQuery, Pagination


@pytest.mark.parametrize(
    ("page", "page_size", "total_items", "total_pages", "has_next", "most_items"),
    [
        (1, 20, 0, 0, False, 0),
        (1, 20, 1, 1, False, 1),
        (1, 20, 20, 1, False, 20),
        (1, 20, 21, 2, True, 20),
        (2, 20, 21, 2, False, 1),
        (3, 20, 21, 2, False, 0),
        (1, 100, 250, 3, True, 100),
    ],
)
def test_pages_add_up(
    page: int, page_size: int, total_items: int, total_pages: int, has_next: bool, most_items: int
) -> None:
    pagination = Pagination.of(page, page_size, total_items)

    assert (pagination.total_pages, pagination.has_next, pagination.most_items) == (total_pages, has_next, most_items)


@pytest.mark.parametrize(("total_pages", "has_next"), [(1, True), (3, True), (2, False)])
def test_pages_that_do_not_add_up_are_refused(total_pages: int, has_next: bool) -> None:
    with pytest.raises(ValidationError):
        Pagination(page=1, page_size=20, total_items=21, total_pages=total_pages, has_next=has_next)


def test_a_list_is_asked_for_from_its_first_page() -> None:
    assert (ListQuery().page, ListQuery().page_size, ListQuery().offset) == (1, 20, 0)
    assert ListQuery(page=3, page_size=50).offset == 100
