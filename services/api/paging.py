"""Pages of lists, within the limit that this deployment sets."""

from typing import Final, TypeVar

from services.api.edge.call import Call
from shared.contracts.errors import ErrorCode, FieldError, RequestRefused
from shared.contracts.paging import ListQuery
from shared.domain.errors import FieldFault

AFTER_NOTHING: Final = FieldFault("$.after", "NOT_FOUND", "There is none of this id, or you may not see it.")
"""What is wrong with a place in a list that the caller cannot know."""

Wanted = TypeVar("Wanted", bound=ListQuery)


def page_query(call: Call, model: type[Wanted], most: int) -> Wanted:
    """Which page is wanted; RequestRefused, with the limit named, for more items than `most`."""
    query = call.query(model)
    if query.page_size > most:
        message = f"This gateway answers at most {most} items a page"
        fault = FieldError(field="$.pageSize", reason="OUT_OF_RANGE", message=message)
        raise RequestRefused(ErrorCode.INVALID_INPUT, (fault,))
    return query
