"""Metadata as they are answered: already in the form that the client would bring them into."""

import json
from typing import Final

from tests.conformance.answers import Answer, Json, walk
from tests.conformance.contract import LIMITS
from tests.conformance.rules.finding import Findings, found
from tests.conformance.text import normalised

M4: Final = "M4 metadata are at most 4,096 bytes"
M5: Final = "M5 metadata are NFC and trimmed as they come, and tags differ in that form"

METADATA_RULES: Final = (M4, M5)


def metadata(answer: Answer) -> Findings:
    """Every property of that name, wherever it stands."""
    if not answer.is_success:
        return
    for path, value in walk(answer.data):
        if path.endswith(".metadata") and isinstance(value, dict):
            length = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
            yield found(M4, length <= LIMITS["metadataBytes"], f"{length} bytes at {path}")
            yield found(M5, value == _normal(value), f"{path} is another one in normal form")


def _normal(value: Json) -> Json:
    tags = [normalised(tag) for tag in value["tags"]]
    texts = {name: text if text is None else normalised(text) for name, text in value.items() if name != "tags"}
    return texts | {"tags": list(dict.fromkeys(tags))}
