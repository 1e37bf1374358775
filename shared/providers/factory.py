"""Opens providers by kind, each at its first use and once a process: writing for workers, reading for the others."""

from collections.abc import Awaitable, Callable

from shared.contracts.commands import ProviderKind
from shared.domain.errors import Rejected
from shared.providers.ports import FileReader, ProviderReads, ProviderWrites
from shared.providers.scripted.provider import ScriptedProvider
from shared.providers.settings import ProviderSettings


class ProviderNotOffered(Rejected):
    """The kind of provider is known, and this release has none."""

    def __init__(self, kind: ProviderKind) -> None:
        super().__init__(f"This release has no {kind.value} provider.")


class Providers:
    """The providers of one process."""

    def __init__(self, settings: ProviderSettings, files: FileReader) -> None:
        self._settings = settings
        self._files = files
        self._writes: dict[ProviderKind, ProviderWrites] = {}
        self._reads: dict[ProviderKind, ProviderReads] = {}
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self._shared: ScriptedProvider | None = None

    def writes(self, kind: ProviderKind) -> ProviderWrites:
        """The side for workers; ProviderNotOffered when this release has no such provider."""
        if kind not in self._writes:
            self._writes[kind] = self._opened_writes(kind)
        return self._writes[kind]

    def reads(self, kind: ProviderKind) -> ProviderReads:
        """The side for searches and reconciling; ProviderNotOffered when this release has no such provider."""
        if kind not in self._reads:
            self._reads[kind] = self._opened_reads(kind)
        return self._reads[kind]

    async def close(self) -> None:
        """End what was opened."""
        while self._closers:
            await self._closers.pop()()

    def _opened_writes(self, kind: ProviderKind) -> ProviderWrites:
        match kind:
            case ProviderKind.EMBEDDED:
                return self._embedded_writes()
            case ProviderKind.SCRIPTED:
                return self._scripted()
            case ProviderKind.RAGFLOW:
                raise ProviderNotOffered(kind)

    def _opened_reads(self, kind: ProviderKind) -> ProviderReads:
        match kind:
            case ProviderKind.EMBEDDED:
                return self._embedded_reads()
            case ProviderKind.SCRIPTED:
                return self._scripted()
            case ProviderKind.RAGFLOW:
                raise ProviderNotOffered(kind)

    # The engine is imported where it is used: an image for another provider does without its libraries.

    def _embedded_writes(self) -> ProviderWrites:
        from shared.providers.embedded.engine import open_writes  # noqa: PLC0415
        from shared.providers.embedded.settings import EmbeddedSettings  # noqa: PLC0415

        writes = open_writes(EmbeddedSettings(), self._files)
        self._closers.append(writes.close)
        return writes

    def _embedded_reads(self) -> ProviderReads:
        from shared.providers.embedded.engine import open_reads  # noqa: PLC0415
        from shared.providers.embedded.settings import EmbeddedSettings  # noqa: PLC0415

        reads, embedder = open_reads(EmbeddedSettings())
        self._closers += (embedder.close, reads.close)
        return reads

    def _scripted(self) -> ScriptedProvider:
        """One object with both sides, so that both see the same documents when nothing is shared by a file."""
        if self._shared is None:
            self._shared = ScriptedProvider(path=self._settings.scripted_path, files=self._files)
            self._closers.append(self._shared.close)
        return self._shared
