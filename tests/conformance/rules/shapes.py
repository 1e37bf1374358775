"""What is answered, held against the contract's closed schemas: a rule for each, and those that have their own name."""

from typing import Final

from tests.conformance.answers import Answer
from tests.conformance.contract import ROUTES
from tests.conformance.rules.envelope import F1, F2
from tests.conformance.rules.finding import Findings, found
from tests.conformance.schemas import NO_SPACE, TIME, URI, Fault, Z, faults, mentions

F3: Final = "F3 ids and codes hold nothing that JavaScript calls white space"
F4: Final = "F4 addresses are absolute"
M1: Final = "M1 metadata are all four fields and no other"
M2: Final = "M2 metadata texts are null or 1 to 64 code points without control characters"
M3: Final = "M3 tags are at most 20, each 1 to 32 code points, each once"
S1: Final = "S1 hits are at most 8, each of at most 2,500 code points"
S3: Final = "S3 an empty result gives the one reason"
L2: Final = "L2 a link lives exactly 60 seconds"

DTO: Final = {
    name: f"DTO {name} is closed and complete, and what may be absent is never null"
    for name in sorted({route.data for route in ROUTES.values() if route.data is not None})
}
SHAPE_RULES: Final = (*DTO.values(), F3, F4, M1, M2, M3, S1, S3, L2)

TEXTS: Final = frozenset({"category", "versionLabel", "productCode"})


def shape(answer: Answer) -> Findings:
    """The schema of what the route answers."""
    name = answer.call.route.data
    if not answer.is_success or name is None:
        return
    wrong: dict[str, list[str]] = {}
    for fault in faults(name, answer.data):
        wrong.setdefault(_rule_of(fault, DTO[name]), []).append(str(fault))
    applied = {DTO[name], *_mentioned(name, answer), *wrong}
    for rule in sorted(applied):
        yield found(rule, rule not in wrong, "; ".join(wrong.get(rule, [])))


def _mentioned(name: str, answer: Answer) -> set[str]:
    """The rules of their own that have a say in this answer."""
    rules = {
        F1: mentions(name, "format", TIME),
        F2: mentions(name, "pattern", Z),
        F3: mentions(name, "pattern", NO_SPACE),
        F4: mentions(name, "format", URI),
        L2: name == "DownloadLink",
    }
    rules |= dict.fromkeys((M1, M2, M3), '"metadata":' in answer.content.decode(errors="replace"))
    if name == "RetrievalResult" and isinstance(hits := answer.data.get("hits"), list):
        rules |= {S1: bool(hits), S3: not hits}
    return {rule for rule, applies in rules.items() if applies}


def _rule_of(fault: Fault, rule: str) -> str:
    path = fault.path
    if "metadata" in path:
        inside = path[path.index("metadata") + 1 :]
        return M3 if inside[:1] == ("tags",) else M2 if inside and inside[0] in TEXTS else M1
    if fault.keyword in {"format", "pattern"}:
        return {TIME: F1, Z: F2, NO_SPACE: F3, URI: F4}.get(str(fault.wanted), rule)
    if rule == DTO["DownloadLink"] and path[-1:] == ("expiresInSeconds",):
        return L2
    if rule == DTO["RetrievalResult"]:
        return _rule_of_result(fault, rule)
    return rule


def _rule_of_result(fault: Fault, rule: str) -> str:
    if fault.keyword == "maxItems" and fault.path == ("hits",):
        return S1
    if fault.keyword == "maxLength" and fault.path[-1:] == ("content",):
        return S1
    is_about_reason = fault.path[-1:] == ("reason",) or (fault.keyword == "required" and "reason" in str(fault.wanted))
    return S3 if is_about_reason else rule
