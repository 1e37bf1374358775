"""Pages of lists, within the limit that this deployment sets."""

from typing import Final, TypeVar

from services.api.edge.call import Call
from shared.contracts.errors import invalid
from shared.contracts.paging import ListQuery
from shared.domain.errors import absent_at

AFTER_NOTHING: Final = absent_at("$.after")
"""What is wrong with a place in a list that the caller cannot know."""

Wanted = TypeVar("Wanted", bound=ListQuery)


def page_query(call: Call, model: type[Wanted], most: int) -> Wanted:
    """Which page is wanted; RequestRefused, with the limit named, for more items than `most`."""
    query = call.query(model)
    if query.page_size > most:
        raise invalid("$.pageSize", "OUT_OF_RANGE", f"This gateway answers at most {most} items a page")
    return query
