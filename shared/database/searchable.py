"""Which versions a search may look into: ACTIVE documents' READY active versions in ACTIVE spaces, authorised."""

from collections.abc import Collection, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from sqlalchemy import Connection

from shared.contracts.commands import ProviderProfile
from shared.contracts.ids import DocumentId, SpaceId, VersionId
from shared.contracts.metadata import DocumentMetadataOutput, MetadataFilter
from shared.database.documents import read_metadata
from shared.database.predicate import DOCUMENT_VISIBLE, SINGLE_DOCUMENT_VISIBLE, SPACE_VISIBLE, reach_parameters
from shared.database.settings import SQLITE
from shared.database.sql import Parameter, run
from shared.domain.authorization import Reach


class SearchTarget(NamedTuple):
    """One version that may be searched, and how its provider and its readers call it.

    It is a row as it comes, since thousands are made for each search and a few of them are shown.
    """

    space_id: SpaceId
    native_space_id: str | None
    profile_json: str
    document_id: DocumentId
    document_name: str
    version_id: VersionId
    native_document_id: str
    category: str | None
    tags_json: str
    version_label: str | None
    product_code: str | None

    @property
    def profile(self) -> ProviderProfile:
        """How the space is kept by its provider."""
        return _profile(self.profile_json)

    @property
    def metadata(self) -> DocumentMetadataOutput:
        """The document's metadata."""
        return read_metadata(self.category, self.tags_json, self.version_label, self.product_code)


_SERVED = "document.status = 'ACTIVE' AND active.status = 'READY' AND active.native_document_id IS NOT NULL"

# Spaces that are granted whole are authorised once each, and not once for every document in them.
# SQLite joins a CROSS JOIN in the order in which it is written.
_TARGETS = """
WITH granted AS (SELECT space.id, space.native_id, space.profile FROM space
    WHERE {space_visible} AND space.status = 'ACTIVE'{space_filter})
SELECT {granted_columns} FROM granted JOIN document ON document.space_id = granted.id
    CROSS JOIN document_version AS active
    WHERE active.id = document.active_version_id AND {served}{document_filter}
UNION ALL
SELECT {space_columns} FROM document CROSS JOIN space CROSS JOIN document_version AS active
    WHERE space.id = document.space_id AND space.status = 'ACTIVE' AND {single_visible}{space_filter}
    AND space.id NOT IN (SELECT id FROM granted)
    AND active.id = document.active_version_id AND {served}{document_filter}
"""

_STILL = """
SELECT {space_columns} FROM document_version AS active CROSS JOIN document CROSS JOIN space
    WHERE active.id AMONG :versions AND document.id = active.document_id AND document.active_version_id = active.id
    AND {served} AND space.id = document.space_id AND space.status = 'ACTIVE' AND {document_visible}
"""

_CONDITIONS = {
    "documents": "document.id AMONG :documents",
    "category": "document.category AMONG :category",
    "version_label": "document.version_label AMONG :version_label",
    "product_code": "document.product_code AMONG :product_code",
    "tags_any": """EXISTS (SELECT 1 FROM document_tag
        WHERE document_tag.document_id = document.id AND tag AMONG :tags_any)""",
    "tags_all": """(SELECT count(*) FROM document_tag
        WHERE document_tag.document_id = document.id AND tag AMONG :tags_all) = :tags_all_count""",
}
"""What narrows the documents, by the parameter that it takes."""

_METADATA_FIELDS = ("category", "version_label", "product_code", "tags_any", "tags_all")


def searchable_versions(
    conn: Connection,
    reach: Reach,
    *,
    space_ids: Collection[SpaceId] | None = None,
    document_ids: Collection[DocumentId] | None = None,
    metadata: MetadataFilter | None = None,
) -> list[SearchTarget]:
    """Every version that the caller may search, in these spaces and documents where given, that the filter matches."""
    wanted: dict[str, Parameter] = dict(_wanted(metadata))
    if space_ids is not None:
        wanted["spaces"] = space_ids
    if document_ids is not None:
        wanted["documents"] = document_ids
    text = _targets_text(conn.dialect.name, tuple(name for name in _CONDITIONS if name in wanted), "spaces" in wanted)
    return list(map(SearchTarget._make, run(conn, text, **wanted, **reach_parameters(reach)).all()))


def searchable_version(conn: Connection, reach: Reach, version_id: VersionId) -> SearchTarget | None:
    """The version, if the caller may search it now."""
    return next(iter(_search_among(conn, reach, (version_id,))), None)


def still_searchable(conn: Connection, reach: Reach, version_ids: Collection[VersionId]) -> set[VersionId]:
    """Those of the versions that the caller may search now."""
    return {target.version_id for target in _search_among(conn, reach, version_ids)}


def _search_among(conn: Connection, reach: Reach, version_ids: Collection[VersionId]) -> list[SearchTarget]:
    text = _still_text(conn.dialect.name)
    return list(map(SearchTarget._make, run(conn, text, versions=version_ids, **reach_parameters(reach)).all()))


def _wanted(metadata: MetadataFilter | None) -> Iterator[tuple[str, Parameter]]:
    if metadata is None:
        return
    for name in _METADATA_FIELDS:
        values = getattr(metadata, name)
        if values is not None:
            yield name, values
    if metadata.tags_all is not None:
        yield "tags_all_count", len(metadata.tags_all)


@cache
def _targets_text(dialect: str, conditions: tuple[str, ...], is_in_spaces: bool) -> str:
    return _TARGETS.format(
        space_visible=SPACE_VISIBLE,
        single_visible=SINGLE_DOCUMENT_VISIBLE,
        served=_SERVED,
        granted_columns=_columns(dialect, "granted"),
        space_columns=_columns(dialect, "space"),
        space_filter=" AND space.id AMONG :spaces" if is_in_spaces else "",
        document_filter="".join(f" AND {_CONDITIONS[name]}" for name in conditions),
    )


@cache
def _still_text(dialect: str) -> str:
    return _STILL.format(space_columns=_columns(dialect, "space"), served=_SERVED, document_visible=DOCUMENT_VISIBLE)


def _columns(dialect: str, space: str) -> str:
    json = "" if dialect == SQLITE else "::text"
    return f"""{space}.id, {space}.native_id, {space}.profile{json}, document.id, document.name, active.id,
        active.native_document_id, document.category, document.tags{json}, document.version_label,
        document.product_code"""


@lru_cache(maxsize=256)
def _profile(text: str) -> ProviderProfile:
    return ProviderProfile.model_validate_json(text)
