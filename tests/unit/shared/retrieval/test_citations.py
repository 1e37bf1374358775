"""A citation id stands for one place of one version, for one tenant."""

import pytest

from shared.auth.sealing import Sealer
from shared.contracts.ids import TenantId, VersionId
from shared.domain.errors import NotFound
from shared.providers.ports import Place
from shared.retrieval.citations import CitedPlace, open_citation, seal_citation

ACME, OTHER = TenantId("acme"), TenantId("other")


SEALER = Sealer([bytes(range(64))])


@pytest.mark.parametrize(
    "place",
    [Place(start=0, end=1), Place(start=123_456, end=125_956), Place(start=0, end=0, chunk="a|b|c")],
    ids=["the first character", "far inside", "a provider's chunk"],
)
def test_a_citation_is_read_back_as_it_was_sealed(place: Place) -> None:
    cited = CitedPlace(version_id=VersionId("ver_01k"), place=place)
    assert open_citation(SEALER, ACME, seal_citation(SEALER, ACME, cited)) == cited


def test_the_longest_citation_fits_the_contract() -> None:
    place = Place(start=10**9, end=10**9 + 2500, chunk="c" * 70)
    cited = CitedPlace(version_id=VersionId("ver_" + "0" * 26), place=place)
    assert len(seal_citation(SEALER, ACME, cited)) <= 256


def test_the_same_place_has_the_same_citation() -> None:
    cited = CitedPlace(version_id=VersionId("ver_01k"), place=Place(start=3, end=9))
    assert seal_citation(SEALER, ACME, cited) == seal_citation(SEALER, ACME, cited)


def test_another_tenant_cannot_open_it() -> None:
    token = seal_citation(SEALER, ACME, CitedPlace(version_id=VersionId("v"), place=Place(start=0, end=1)))
    with pytest.raises(NotFound):
        open_citation(SEALER, OTHER, token)


def test_a_place_that_takes_too_many_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match="room"):
        seal_citation(SEALER, ACME, CitedPlace(version_id=VersionId("v"), place=Place(start=0, end=0, chunk="x" * 100)))
