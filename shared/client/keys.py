"""Names that are derived from what a request is about, so that asking twice gives them twice."""

import hashlib
import json


def idempotency_key(*parts: str) -> str:
    """`knowledge:` and the SHA-256 of the parts as compact JSON, as the agents' client makes its keys."""
    written = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    return f"knowledge:{hashlib.sha256(written.encode()).hexdigest()}"


def request_id(session_id: str, call_id: str) -> str:
    """The request id of a call of a session: 42 characters, the same for every repetition of the call."""
    digest = hashlib.sha256(f"{session_id}\0{call_id}".encode()).hexdigest()
    return f"knowledge-{digest[:32]}"
