"""Which provider a kind opens."""

from pathlib import Path

import pytest

from shared.contracts.commands import ProviderKind
from shared.providers.factory import ProviderNotOffered, Providers
from shared.providers.scripted.provider import ScriptedProvider
from shared.providers.settings import ProviderSettings
from tests.support.provider_samples import FolderOfFiles, space_ref


def providers(tmp_path: Path, **settings: object) -> Providers:
    return Providers(ProviderSettings.model_validate(settings), FolderOfFiles(tmp_path))


async def test_both_sides_of_the_scripted_provider_see_the_same(tmp_path: Path) -> None:
    opened = providers(tmp_path)
    writes, reads = opened.writes(ProviderKind.SCRIPTED), opened.reads(ProviderKind.SCRIPTED)
    assert isinstance(writes, ScriptedProvider)
    assert writes is reads
    await opened.close()


async def test_two_processes_share_the_scripted_provider_by_its_file(tmp_path: Path) -> None:
    one, two = (providers(tmp_path, scripted_path=tmp_path / "scripted.db") for _ in range(2))
    native_id = await one.writes(ProviderKind.SCRIPTED).provision(space_ref())
    assert await two.writes(ProviderKind.SCRIPTED).provision(space_ref()) == native_id
    await one.close()
    await two.close()


async def test_a_provider_is_opened_once(tmp_path: Path) -> None:
    opened = providers(tmp_path)
    assert opened.writes(ProviderKind.SCRIPTED) is opened.writes(ProviderKind.SCRIPTED)
    await opened.close()


async def test_the_embedded_engine_has_two_sides_on_one_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNOWGATE_EMBEDDED_INDEX", str(tmp_path / "index.sqlite"))
    opened = providers(tmp_path)
    writes, reads = opened.writes(ProviderKind.EMBEDDED), opened.reads(ProviderKind.EMBEDDED)
    await writes.provision(space_ref(kind=ProviderKind.EMBEDDED))
    await reads.check()
    await opened.close()


def test_what_this_release_does_not_have_is_said_clearly(tmp_path: Path) -> None:
    opened = providers(tmp_path)
    with pytest.raises(ProviderNotOffered, match="no ragflow provider"):
        opened.writes(ProviderKind.RAGFLOW)
    with pytest.raises(ProviderNotOffered):
        opened.reads(ProviderKind.RAGFLOW)


def test_new_spaces_live_in_the_embedded_engine_unless_set_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ProviderSettings().kind is ProviderKind.EMBEDDED
    monkeypatch.setenv("KNOWGATE_PROVIDER_KIND", "scripted")
    assert ProviderSettings().kind is ProviderKind.SCRIPTED
