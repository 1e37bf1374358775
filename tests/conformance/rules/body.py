"""Status, headers and bytes of an answer, and the walk over all of its JSON."""

import re
from typing import Final

from tests.conformance.answers import Answer, depth, is_finite, walk
from tests.conformance.contract import LIMITS
from tests.conformance.rules.finding import Findings, found

T1: Final = "T1 no answer leads elsewhere"
T2: Final = "T2 a success is no longer than the client reads"
T4: Final = "T4 an error is no longer than the client reads"
T5: Final = "T5 every body is strict JSON in UTF-8"
T9: Final = "T9 every body is called application/json"
T10: Final = "T10 a success has the contract's very status"
T13: Final = "T13 no object holds a name twice"
J1: Final = "J1 nesting is at most 64 levels deep"
J2: Final = "J2 every number is finite"
J3: Final = "J3 no name tells of what lies behind the gateway"
F5: Final = "F5 every integer is one that JavaScript can hold"

BODY_RULES: Final = (T1, T2, T4, T5, T9, T10, T13)
WALK_RULES: Final = (J1, J2, J3, F5)

LONGEST_ERROR: Final = 65_536
DEEPEST: Final = 64
SAFE: Final = 2**53 - 1
FORBIDDEN: Final = re.compile(
    "ragflow|dataset|chunk|pipeline|model|rerank|provider|api[_-]?key|base[_-]?url|endpoint|last[_-]?error",
    re.IGNORECASE,
)


def body(answer: Answer) -> Findings:
    """What the transport carries."""
    yield found(T1, not 300 <= answer.status < 400, f"{answer.status} to {answer.headers.get('location')}")
    length = len(answer.content)
    if answer.is_success:
        yield found(T2, length <= LIMITS["artifactMaxBytes"]["default"], f"{length} bytes")
        expected = answer.call.route.status
        yield found(T10, answer.status == expected, f"{answer.status} and not {expected}")
    else:
        yield found(T4, length <= LONGEST_ERROR, f"{length} bytes")
    content_type = answer.headers.get("content-type", "nothing")
    yield found(T9, content_type.partition(";")[0].strip().lower() == "application/json", content_type)
    yield found(T5, answer.parsed.fault is None, answer.parsed.fault or "")
    yield found(T13, not answer.parsed.repeated, ", ".join(answer.parsed.repeated))


def whole_json(answer: Answer) -> Findings:
    """What the client looks for in the JSON of a success before it looks at anything else."""
    if not answer.is_success:
        return
    value = answer.parsed.value
    levels = depth(value)
    yield found(J1, levels <= DEEPEST, f"{levels} levels")
    infinite = [path for path, inner in walk(value) if not is_finite(inner)]
    yield found(J2, not infinite, ", ".join(infinite))
    names = [f"{path}.{name}" for path, inner in walk(value) if isinstance(inner, dict) for name in inner]
    telling = [name for name in names if FORBIDDEN.search(name.rpartition(".")[2])]
    yield found(J3, not telling, ", ".join(telling))
    large = [path for path, inner in walk(value) if isinstance(inner, int) and abs(inner) > SAFE]
    yield found(F5, not large, ", ".join(large))
