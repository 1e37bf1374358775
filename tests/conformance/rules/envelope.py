"""The envelope around every answer."""

from typing import Final

from tests.conformance.answers import Answer
from tests.conformance.rules.finding import Findings, found
from tests.conformance.schemas import TIME, Z, faults

E1: Final = "E1 an answer is data and meta alone"
E2: Final = "E2 an answer says success exactly when its status does"
E3: Final = "E3 meta of a success is closed and complete"
E4: Final = "E4 an error is closed and complete"
E5: Final = "E5 data of a success is an object"
P1: Final = "P1 a pagination is closed and within bounds"
P7: Final = "P7 a pagination stands in meta of lists and nowhere else"
F1: Final = "F1 times are as the client parses them"
F2: Final = "F2 times of meta and of a document's detail end in Z"

OUTER_RULES: Final = (E1, E2, E5, P7)
META_RULES: Final = (E3, E4, P1, F1, F2)


def outer(answer: Answer) -> Findings:
    """That it is an envelope at all, and the one that fits the call."""
    value = answer.parsed.value
    names = sorted(value) if isinstance(value, dict) else []
    yield found(E1, names == ["data", "meta"] and bool(answer.meta), f"it holds {names}")
    if not answer.meta:
        return
    yield found(E2, answer.meta.get("success") is answer.is_success, f"{answer.status}, {answer.meta.get('success')}")
    if answer.is_success:
        yield found(E5, isinstance(answer.data, dict), f"it is {type(answer.data).__name__}")
        pagination = answer.meta.get("pagination")
        is_list = answer.call.route.is_list
        nested = isinstance(answer.data, dict) and "pagination" in answer.data
        yield found(P7, isinstance(pagination, dict) == is_list and not nested, f"it is {pagination}")


def inner(answer: Answer) -> Findings:
    """Its fields. What is wrong with a time is told by the rules about times."""
    if not answer.is_success:
        name, whole = "ErrorEnvelope", answer.parsed.value
        rule = E4
    else:
        name, whole = ("ListSuccessMeta" if answer.call.route.is_list else "SuccessMeta"), dict(answer.meta)
        rule = E3
    wrong: dict[str, list[str]] = {}
    for fault in faults(name, whole):
        wrong.setdefault(_rule_of(fault.path, fault.wanted, rule), []).append(str(fault))
    for applied in (rule, F1, F2, *([P1] if answer.call.route.is_list and answer.is_success else [])):
        yield found(applied, applied not in wrong, "; ".join(wrong.get(applied, [])))


def _rule_of(path: tuple[str | int, ...], wanted: object, rule: str) -> str:
    if "pagination" in path:
        return P1
    if path and path[-1] == "timestamp":
        return {TIME: F1, Z: F2}.get(str(wanted), rule)
    return rule
