"""The order in which an answer is looked at, as the client does it, and the names of all the rules."""

from collections.abc import Iterator
from typing import Final

from tests.conformance.answers import Answer
from tests.conformance.rules.body import BODY_RULES, WALK_RULES, body, whole_json
from tests.conformance.rules.documents import DOCUMENT_RULES, document
from tests.conformance.rules.echoes import ECHO_RULES, echo
from tests.conformance.rules.envelope import META_RULES, OUTER_RULES, inner, outer
from tests.conformance.rules.errors import ERROR_RULES, error
from tests.conformance.rules.finding import Finding, Findings, Stage
from tests.conformance.rules.metadata import METADATA_RULES, metadata
from tests.conformance.rules.pages import PAGE_RULES, page
from tests.conformance.rules.retrieval import RETRIEVAL_RULES, citation, link, search
from tests.conformance.rules.shapes import SHAPE_RULES, shape

ANSWER_RULES: Final = (
    *BODY_RULES,
    *WALK_RULES,
    *OUTER_RULES,
    *META_RULES,
    *SHAPE_RULES,
    *PAGE_RULES,
    *METADATA_RULES,
    *DOCUMENT_RULES,
    *RETRIEVAL_RULES,
    *ECHO_RULES,
    *ERROR_RULES,
)
"""Every rule that holds for single answers."""


def _between_fields(answer: Answer) -> Findings:
    for look in (error, page, metadata, document, search, citation, link, echo):
        yield from look(answer)


STAGES: Final[tuple[Stage, ...]] = (body, whole_json, outer, inner, shape, _between_fields)


def look_at(answer: Answer) -> Iterator[Finding]:
    """Everything that the rules say of an answer, up to the first stage that finds something wrong."""
    for stage in STAGES:
        findings = list(stage(answer))
        yield from findings
        if not all(finding.holds for finding in findings):
            return
