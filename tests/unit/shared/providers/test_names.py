"""Names of provider documents: those that we give are told from all others."""

import pytest

from shared.contracts.commands import ProviderKind, ProviderProfile, SourceFile
from shared.contracts.ids import SpaceId, VersionId
from shared.providers.ports import SpaceRef, VersionRef, version_named
from shared.telemetry.stamps import new_id

SPACE = SpaceRef(space_id=SpaceId("spc_1"), profile=ProviderProfile(kind=ProviderKind.SCRIPTED, profile_code="default"))


@pytest.mark.parametrize("file_name", ["a.pdf", "A.PDF", "bericht", "x.tar.gz", "x.p\u00e4f", ".hidden", "dot."])
def test_a_name_that_we_give_names_its_version(file_name: str) -> None:
    version_id = VersionId(new_id("ver"))
    source = SourceFile(object_key="a/b", size=1, sha256="0" * 64, content_type="text/plain", file_name=file_name)
    assert version_named(VersionRef(space=SPACE, version_id=version_id, source=source).name) == version_id


@pytest.mark.parametrize("name", ["", "Handbook.pdf", "ver_", "ver_A.pdf", "my ver_1.pdf", "ver_1.pdf\n", "ver_1.a.b"])
def test_every_other_name_names_none(name: str) -> None:
    assert version_named(name) is None
