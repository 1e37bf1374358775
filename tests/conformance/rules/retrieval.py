"""Search results, citations and download links: what the client checks, and what it takes on trust."""

from collections import Counter
from datetime import datetime, timedelta
from ipaddress import IPv4Address
from typing import Final
from urllib.parse import urlsplit

from tests.conformance.answers import Answer
from tests.conformance.contract import LIMITS
from tests.conformance.rules.finding import Findings, found

S1B: Final = "S1b hits are at most 4 of a document"
S1C: Final = "S1c contents are at most 16,000 code points together"
S2: Final = "S2 the query comes back exactly as it was sent"
O6: Final = "O6 hits are at most as many as were asked for"
O7: Final = "O7 hits stand in the order of their score"
O8: Final = "O8 every hit has a citation of its own"
O9: Final = "O9 hits are of the documents that were asked for"
C1: Final = "C1 a citation is at most 12,500 code points"
C2: Final = "C2 the context is as long as it says, in code points"
C3: Final = "C3 the context is at most as long as was asked for"
C4: Final = "C4 the context that was asked for comes back"
C5: Final = "C5 the last page is not before the first"
C6: Final = "C6 a citation is the one that was asked for"
L1: Final = "L1 a link is https, or http to this machine"
O10: Final = "O10 a link says when its 60 seconds end"

RETRIEVAL_RULES: Final = (S1B, S1C, S2, O6, O7, O8, O9, C1, C2, C3, C4, C5, C6, L1, O10)

SEARCH: Final = LIMITS["search"]
CITATION: Final = LIMITS["citation"]
LOOPBACK: Final = frozenset({"localhost", str(IPv4Address(0x7F000001)), "::1"})
LINK_LIVES: Final = (timedelta(seconds=58), timedelta(seconds=61))


def search(answer: Answer) -> Findings:
    """A search result."""
    if answer.call.route.data != "RetrievalResult" or not answer.is_success:
        return
    request, hits = answer.call.body, answer.data["hits"]
    if "query" in answer.data or hits:
        yield found(S2, answer.data.get("query") == request["query"], repr(answer.data.get("query")))
    limit = request.get("limit", SEARCH["hits"])
    yield found(O6, len(hits) <= limit, f"{len(hits)} and not {limit}")
    if not hits:
        return
    most = Counter(hit["documentId"] for hit in hits).most_common(1)[0]
    yield found(S1B, most[1] <= SEARCH["hitsPerDocument"], f"{most[1]} of {most[0]}")
    length = sum(len(hit["content"]) for hit in hits)
    yield found(S1C, length <= SEARCH["totalCodePoints"], f"{length} code points")
    scores = [hit["score"] for hit in hits]
    yield found(O7, scores == sorted(scores, reverse=True), str(scores))
    citations = {hit["citationId"] for hit in hits}
    yield found(O8, len(citations) == len(hits), f"{len(citations)} for {len(hits)} hits")
    if wanted := request.get("documentIds"):
        others = {hit["documentId"] for hit in hits} - set(wanted)
        yield found(O9, not others, ", ".join(others))


def citation(answer: Answer) -> Findings:
    """A cited place with its context."""
    if answer.call.route.data != "CitationSource" or not answer.is_success:
        return
    got, query = answer.data, answer.call.query
    before, after = len(got["beforeContent"]), len(got["afterContent"])
    length = before + len(got["matchedContent"]) + after
    yield found(C1, length <= CITATION["total"], f"{length} code points")
    told = (got["actualContextBefore"], got["actualContextAfter"])
    yield found(C2, told == (before, after), f"{told} and not {(before, after)}")
    asked = (got["requestedContextBefore"], got["requestedContextAfter"])
    yield found(C3, before <= asked[0] and after <= asked[1], f"{(before, after)} of {asked}")
    wanted = (
        query.get("contextBefore", CITATION["defaultBefore"]),
        query.get("contextAfter", CITATION["defaultAfter"]),
    )
    yield found(C4, asked == wanted, f"{asked} and not {wanted}")
    if "pageStart" in got and "pageEnd" in got:
        yield found(C5, got["pageStart"] <= got["pageEnd"], f"{got['pageStart']} to {got['pageEnd']}")
    yield found(C6, got["citationId"] == answer.call.ids["citationId"], got["citationId"])


def link(answer: Answer) -> Findings:
    """A download link."""
    if answer.call.route.data != "DownloadLink" or not answer.is_success:
        return
    url = urlsplit(answer.data["downloadUrl"])
    is_safe = url.scheme == "https" or (url.scheme == "http" and url.hostname in LOOPBACK)
    yield found(L1, is_safe, f"{url.scheme} to {url.hostname}")
    life = _time(answer.data["expiresAt"]) - _time(answer.meta["timestamp"])
    yield found(O10, LINK_LIVES[0] <= life <= LINK_LIVES[1], f"{life}")


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
