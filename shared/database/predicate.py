"""The authorisation predicate as SQL: conditions on the tables `space` and `document`, and their parameters.

Every condition begins at one space or one document, or at the caller's own grants, and is answered from
an index, so what other tenants and other spaces hold costs nothing.
"""

import orjson

from shared.database.sql import Parameter
from shared.domain.authorization import Reach

_IS_CALLER = "(held.principal_kind, held.principal) AMONG PAIRS :principals"

SPACE_IN_REACH = "space.tenant_id = :tenant AND space.security_domain AMONG :domains"
"""The space is the caller's tenant's and in one of their domains; alone it is enough only to manage spaces."""

_GRANTED = """EXISTS (
    SELECT 1 FROM access_grant AS held
    WHERE held.space_id = space.id AND held.document_id = {document} AND {is_caller}
)"""
_SPACE_GRANTED = _GRANTED.format(document="''", is_caller=_IS_CALLER)
_DOCUMENT_GRANTED = _GRANTED.format(document="document.id", is_caller=_IS_CALLER)

_GRANTED_DOCUMENTS = """
    SELECT held.document_id FROM access_grant AS held
    WHERE held.tenant_id = :tenant AND held.document_id <> '' AND {is_caller}
"""

SPACE_VISIBLE = f"{SPACE_IN_REACH} AND {_SPACE_GRANTED}"
"""The caller may act on the whole space."""

DOCUMENT_VISIBLE = f"{SPACE_IN_REACH} AND ({_SPACE_GRANTED} OR {_DOCUMENT_GRANTED})"
"""The caller may act on the document, which is joined with its space."""

SINGLE_DOCUMENT_VISIBLE = f"{SPACE_IN_REACH} AND document.id IN ({_GRANTED_DOCUMENTS.format(is_caller=_IS_CALLER)})"
"""The caller may act on the document because it was granted by itself."""

NOT_HIDDEN = "document.status NOT IN ('DELETING', 'DELETED')"


def domain_parameters(reach: Reach) -> dict[str, Parameter]:
    """The parameters that `SPACE_IN_REACH` names, for those who need no grant."""
    return {"tenant": reach.tenant_id, "domains": sorted(reach.domains)}


def reach_parameters(reach: Reach) -> dict[str, Parameter]:
    """The parameters that the conditions name."""
    principals = [[principal.kind.value, principal.name] for principal in sorted(reach.principals)]
    return domain_parameters(reach) | {"principals": orjson.dumps(principals).decode()}
