"""The arithmetic of a page, and what stands on it."""

from typing import Final

from tests.conformance.answers import Answer
from tests.conformance.rules.finding import Findings, found

P2: Final = "P2 a page is the one that was asked for"
P3: Final = "P3 totalPages is totalItems by pageSize, rounded up"
P4: Final = "P4 hasNext says whether a page follows"
P5: Final = "P5 a page holds exactly what is left for it"
P6: Final = "P6 a page holds no more than the gateway is set to"
P8: Final = "P8 every document listed is in the space that was asked for"
I1: Final = "I1 what is listed is there once"

PAGE_RULES: Final = (P2, P3, P4, P5, P6, P8, I1)

USUAL_PAGE: Final = 1
USUAL_SIZE: Final = 20


def page(answer: Answer) -> Findings:
    """A page of a list. The client takes fewer items than are left; a gateway has no reason to answer so."""
    if not answer.call.route.is_list or not answer.is_success:
        return
    got, items = answer.meta["pagination"], answer.data["items"]
    number, size, total, pages = got["page"], got["pageSize"], got["totalItems"], got["totalPages"]
    query = answer.call.query
    wanted = (query.get("page", USUAL_PAGE), query.get("pageSize", USUAL_SIZE))
    yield found(P2, (number, size) == wanted, f"{(number, size)} and not {wanted}")
    yield found(P3, pages == -(-total // size), f"{pages} pages for {total} items by {size}")
    yield found(P4, got["hasNext"] == (number < pages), f"{got['hasNext']} on page {number} of {pages}")
    left = max(0, min(size, total - (number - 1) * size))
    yield found(P5, len(items) == left, f"{len(items)} items and not {left}")
    yield found(P6, len(items) <= answer.call.most_items, f"{len(items)} items")
    ids = [item.get("documentId", item.get("spaceId")) for item in items]
    yield found(I1, len(ids) == len(set(ids)), "an id stands there twice")
    if answer.call.route.data == "DocumentList" and items:
        spaces = {item["knowledgeSpaceId"] for item in items}
        yield found(P8, spaces == {answer.call.ids["spaceId"]}, f"documents of {spaces}")
