"""The provider's side of a run: how it is set up, told to misbehave, asked what it holds. A class for each."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from shared.providers.ports import IngestState
from shared.providers.scripted.behaviour import seen
from shared.providers.scripted.store import ScriptedStore
from tests.chaos.oracle.world import Held
from tests.chaos.texts import BEHAVIOURS


class ProviderSide(Protocol):
    """What a run needs of a provider beside the gateway."""

    def prepare(self) -> Mapping[str, str]:
        """Set it up before the gateway comes up; the settings by which the gateway finds it."""

    def documents(self) -> Sequence[Held]:
        """Every document that it holds now."""

    def spaces(self) -> frozenset[str]:
        """The ids of all spaces that it holds now."""


class Scripted:
    """The provider that behaves as told, in a file of its own."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def prepare(self) -> Mapping[str, str]:
        """See `ProviderSide`."""
        with closing(ScriptedStore(self._path)) as store:
            for name, script in BEHAVIOURS.items():
                store.write_script(name, script)
        return {"KNOWGATE_PROVIDER_KIND": "scripted", "KNOWGATE_PROVIDER_SCRIPTED_PATH": str(self._path)}

    def documents(self) -> Sequence[Held]:
        """See `ProviderSide`."""
        now = datetime.now(UTC)
        with closing(ScriptedStore(self._path)) as store:
            held = []
            for document in store.all():
                native = seen(document, store.script(document.file_name), now)
                held.append(
                    Held(
                        space_id=document.space,
                        version_id=document.name.partition(".")[0],
                        native_id=document.native_id,
                        is_done=native.state is IngestState.DONE,
                        chunks=native.chunk_count,
                    )
                )
            return held

    def spaces(self) -> frozenset[str]:
        """See `ProviderSide`."""
        with closing(sqlite3.connect(self._path, timeout=10)) as store:
            return frozenset(row[0] for row in store.execute("SELECT id FROM space"))
