"""Renders the parts of documents that are made from the code, and puts them between their marks.

`python -m tests.architecture.rendering` writes the documents anew; a test fails when they are out of step.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shared.contracts.admin import ADMIN_ROUTES
from shared.contracts.asyncapi import build_asyncapi
from shared.contracts.catalogue import CATALOGUE
from shared.contracts.errors import ERROR_RULES
from shared.contracts.files import FILE_ROUTES
from shared.contracts.openapi import build_admin_openapi, build_openapi
from shared.contracts.route import Route
from shared.contracts.routes import ROUTES
from shared.contracts.transition_events import EVENTS_FOLLOW
from shared.contracts.uploads import UPLOAD_ROUTES
from shared.domain.document import DOCUMENT_MOVES
from shared.domain.failure import FAILURE_CODES, FAILURES
from shared.domain.operation import OPERATION_MOVES
from shared.domain.space import SPACE_MOVES
from shared.domain.version import VERSION_MOVES
from tests.architecture.environment import ENVIRONMENT, render_environment

ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURE = ROOT / "docs" / "ARCHITECTURE.md"
HTTP = ROOT / "docs" / "http.md"
OPENAPI = ROOT / "docs" / "openapi.json"
ADMIN_OPENAPI = ROOT / "docs" / "openapi-admin.json"
ASYNCAPI = ROOT / "docs" / "asyncapi.json"


def state_diagram(table: Mapping[Any, frozenset[Any]], start: StrEnum) -> str:
    """A Mermaid state diagram of one table of moves, in the order of the enum."""
    lines = ["```mermaid", "stateDiagram-v2", f"    [*] --> {start.value}"]
    for status in type(start):
        nexts = table[status]
        lines += [f"    {status.value} --> {then.value}" for then in type(start) if then in nexts]
        if not nexts:
            lines.append(f"    {status.value} --> [*]")
    return "\n".join([*lines, "```"])


def message_table() -> str:
    """The catalogue of messages."""
    lines = ["| message | subject | sender | receiver |", "|---|---|---|---|"]
    lines += [f"| `{m.name}` | `{m.subject}` | {m.sender} | {m.receiver} |" for m in CATALOGUE]
    return "\n".join(lines)


def failure_table() -> str:
    """Every reason for which a step fails, its class and what the caller sees."""
    lines = ["| reason | class | failure code | text |", "|---|---|---|---|"]
    for reason, meaning in FAILURES.items():
        code = FAILURE_CODES[meaning.failure_class].value
        lines.append(f"| `{reason.value}` | {meaning.failure_class.value} | `{code}` | {meaning.text} |")
    return "\n".join(lines)


def error_table() -> str:
    """Every error code that the gateway sends."""
    lines = ["| code | status | retryable | what it says |", "|---|---|---|---|"]
    for code, rule in ERROR_RULES.items():
        lines.append(f"| `{code.value}` | {rule.status} | {'yes' if rule.retryable else 'no'} | {rule.message} |")
    return "\n".join(lines)


def route_table(routes: Iterable[Route]) -> str:
    """Routes, what they answer, and the action that a caller's roles must allow."""
    lines = ["| method | path | answers | action |", "|---|---|---|---|"]
    for route in routes:
        actions = ", ".join(f"`{action.value}`" for action in route.actions)
        lines.append(f"| {route.method} | `{route.path}` | {route.success_status} | {actions} |")
    return "\n".join(lines)


def _first(table: Mapping[Any, frozenset[Any]]) -> StrEnum:
    first: StrEnum = next(iter(table))
    return first


PARTS: dict[str, Callable[[], str]] = {
    "messages": message_table,
    "failures": failure_table,
    "errors": error_table,
    "contract-routes": lambda: route_table(ROUTES),
    "own-routes": lambda: route_table((*FILE_ROUTES, *UPLOAD_ROUTES, EVENTS_FOLLOW)),
    "admin-routes": lambda: route_table(ADMIN_ROUTES),
    "space-states": lambda: state_diagram(SPACE_MOVES, _first(SPACE_MOVES)),
    "document-states": lambda: state_diagram(DOCUMENT_MOVES, _first(DOCUMENT_MOVES)),
    "version-states": lambda: state_diagram(VERSION_MOVES, _first(VERSION_MOVES)),
    "operation-states": lambda: state_diagram(OPERATION_MOVES, _first(OPERATION_MOVES)),
}
"""What stands between `<!-- made from the code: NAME -->` and `<!-- end -->`."""


def render(text: str) -> str:
    """The document with every marked part made anew. KeyError for a mark that names no part."""

    def part(match: re.Match[str]) -> str:
        return f"<!-- made from the code: {match[1]} -->\n{PARTS[match[1]]()}\n<!-- end -->"

    return re.sub(r"<!-- made from the code: ([a-z-]+) -->\n.*?<!-- end -->", part, text, flags=re.DOTALL)


def as_json(document: Mapping[str, Any]) -> str:
    """A JSON document as it is kept in git."""
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def documents() -> dict[Path, str]:
    """Every document that is made from the code, as it should be."""
    release = version("knowgate")
    return {
        ARCHITECTURE: render(ARCHITECTURE.read_text(encoding="utf-8")),
        HTTP: render(HTTP.read_text(encoding="utf-8")),
        OPENAPI: as_json(build_openapi(release)),
        ADMIN_OPENAPI: as_json(build_admin_openapi(release)),
        ASYNCAPI: as_json(build_asyncapi(release)),
        ENVIRONMENT: render_environment(),
    }


if __name__ == "__main__":
    for path, text in documents().items():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")
