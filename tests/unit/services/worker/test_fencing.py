"""Writes pass the fence or are not made."""

import inspect

import pytest

from services.worker.fencing import FencedFiles, FencedWrites
from services.worker.outcomes import Fenced
from shared.providers.ports import ProviderWrites
from shared.providers.scripted.provider import ScriptedProvider
from shared.providers.scripted.script import Call
from tests.support.provider_samples import space_ref, version_ref
from tests.support.scripted import kept
from tests.unit.services.worker.fakes import Removed

SPACE = space_ref()
VERSION = version_ref(SPACE)
LOOKS = {"find", "probe", "close"}


def shut() -> None:
    raise Fenced


async def test_no_write_reaches_the_provider_behind_a_shut_fence() -> None:
    provider = kept(ScriptedProvider())
    fenced = FencedWrites(lambda: provider, shut)
    with pytest.raises(Fenced):
        await fenced.provision(SPACE)
    with pytest.raises(Fenced):
        await fenced.remove_space(SPACE)
    with pytest.raises(Fenced):
        await fenced.upload(VERSION)
    with pytest.raises(Fenced):
        await fenced.start_ingest(VERSION, "scripted-1")
    with pytest.raises(Fenced):
        await fenced.stop_ingest(VERSION, "scripted-1")
    with pytest.raises(Fenced):
        await fenced.remove(SPACE, native_id=None, name_prefix=VERSION.version_id)
    assert not any(provider.calls(call, name) for call in Call for name in (SPACE.space_id, VERSION.version_id))


async def test_looking_needs_no_fence() -> None:
    provider = kept(ScriptedProvider())
    fenced = FencedWrites(lambda: provider, shut)
    assert await fenced.find(VERSION) is None
    assert not await fenced.probe(VERSION, "scripted-1")


async def test_a_delivery_does_not_close_the_provider_of_its_process() -> None:
    provider = kept(ScriptedProvider())
    await FencedWrites(lambda: provider, shut).close()
    assert await provider.find(VERSION) is None


async def test_files_are_behind_the_fence_too() -> None:
    files = Removed()
    with pytest.raises(Fenced):
        await FencedFiles(files, shut).delete("objects/1")
    assert files.keys == []


def test_every_call_of_the_port_is_either_fenced_or_a_look() -> None:
    calls = {name for name, _ in inspect.getmembers(ProviderWrites, inspect.isfunction) if not name.startswith("_")}
    checked = {name for name in calls if "self._check()" in inspect.getsource(getattr(FencedWrites, name))}
    assert checked == calls - LOOKS
