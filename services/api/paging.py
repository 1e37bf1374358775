"""Pages of lists, within the limit that this deployment sets."""

from services.api.edge.call import Call
from shared.contracts.errors import ErrorCode, FieldError, RequestRefused
from shared.contracts.paging import ListQuery


def page_query(call: Call, most: int) -> ListQuery:
    """Which page is wanted; RequestRefused, with the limit named, for more items than `most`."""
    query = call.query(ListQuery)
    if query.page_size > most:
        message = f"This gateway answers at most {most} items a page"
        fault = FieldError(field="$.pageSize", reason="OUT_OF_RANGE", message=message)
        raise RequestRefused(ErrorCode.INVALID_INPUT, (fault,))
    return query
