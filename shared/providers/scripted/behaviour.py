"""What a scripted document looks like at a moment: pure, from what happened to it, its script and the time."""

import re
from dataclasses import dataclass, replace
from datetime import datetime

from shared.providers.ports import IngestState, NativeDocument, Place
from shared.providers.scripted.script import Script

PARAGRAPH = re.compile(r"\S(?:.|\n(?!\s*\n))*")
WORD = re.compile(r"\w+")
ENDED_BADLY = frozenset({IngestState.FAILED, IngestState.CANCELLED})


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedDocument:
    """A document as it was last touched; time has gone on since."""

    native_id: str
    space: str
    name: str
    file_name: str
    text: str
    state: IngestState = IngestState.IDLE
    since: datetime
    ingests: int = 0
    """How often an ingest was started."""


def settled(document: ScriptedDocument, script: Script, now: datetime) -> ScriptedDocument:
    """The document with everything that has happened by itself since it was touched."""
    if document.state is IngestState.RUNNING and now >= document.since + script.ingest_time:
        fails = document.ingests <= script.failed_ingests
        state = IngestState.FAILED if fails else IngestState.DONE
        document = replace(document, state=state, since=document.since + script.ingest_time)
    late = script.late_success
    if document.state in ENDED_BADLY and late is not None and now >= document.since + late:
        document = replace(document, state=IngestState.DONE, since=document.since + late)
    return document


def seen(document: ScriptedDocument, script: Script, now: datetime) -> NativeDocument:
    """The document as the provider shows it."""
    document = settled(document, script, now)
    return NativeDocument(
        native_id=document.native_id,
        name=document.name,
        state=document.state,
        percent=_percent(document, script, now),
        chunk_count=_chunk_count(document, script, now),
        failure=script.failure if document.state is IngestState.FAILED else None,
    )


def _percent(document: ScriptedDocument, script: Script, now: datetime) -> int | None:
    if document.state is IngestState.DONE:
        return 100
    if document.state is not IngestState.RUNNING or not script.percents:
        return None
    part = (now - document.since) / script.ingest_time
    return script.percents[min(int(part * len(script.percents)), len(script.percents) - 1)]


def _chunk_count(document: ScriptedDocument, script: Script, now: datetime) -> int:
    if document.state is not IngestState.DONE or now < document.since + script.chunks_lag:
        return 0
    return len(paragraphs(document.text)) if script.chunks is None else script.chunks


def paragraphs(text: str) -> list[Place]:
    """Where the text's paragraphs lie; blank lines part them."""
    return [Place(start=found.start(), end=found.end()) for found in PARAGRAPH.finditer(text)]


def likeness(question: str, passage: str) -> float:
    """The share of the question's words that stand in the passage."""
    wanted = set(WORD.findall(question.lower()))
    return len(wanted & set(WORD.findall(passage.lower()))) / len(wanted) if wanted else 0.0
