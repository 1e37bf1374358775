"""Knowledge spaces over HTTP: requests and answers."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from shared.contracts.body import Body, Whole
from shared.contracts.enums import OperationStatus, SpaceStatus
from shared.contracts.ids import OperationId, SpaceId
from shared.contracts.paging import Listing
from shared.contracts.text import Code, Id, Reason, SecurityDomainCode, SpaceDescription, SpaceName
from shared.contracts.wire import Maybe

PROFILE_CODE: Final = "enterprise-long-document"

ProfileCode = Literal["enterprise-long-document"]
ShownName = Annotated[str, Field(max_length=128)]
ShownDescription = Annotated[str, Field(max_length=1000)]
SpaceVersion = Annotated[int, Whole(1)]


class SpaceCreateRequest(Body):
    """Create a space. The code is unique in its tenant among spaces that are not deleted."""

    code: Code
    name: SpaceName
    description: Maybe[SpaceDescription] = None
    profile_code: ProfileCode
    default_security_domain_code: SecurityDomainCode


class SpaceUpdateRequest(Body):
    """Rename or describe a space; an empty description clears it. At least one of the two must be given."""

    name: Maybe[SpaceName] = None
    description: Maybe[SpaceDescription] = None
    expected_version: SpaceVersion

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.name is None and self.description is None:
            raise ValueError("name or description must be given")
        return self


class SpaceDeleteRequest(Body):
    """Delete an empty space."""

    expected_version: SpaceVersion
    reason: Reason


class Space(Body):
    """A space, as it is read."""

    space_id: Id[SpaceId]
    code: Code
    name: ShownName
    description: Maybe[ShownDescription] = None
    profile_code: Maybe[ProfileCode] = None
    default_security_domain_code: Maybe[SecurityDomainCode] = None
    status: SpaceStatus
    version: SpaceVersion


class SpaceCreated(Body):
    """A space, as it is answered at once when created; it becomes usable when ACTIVE."""

    space_id: Id[SpaceId]
    code: Code
    name: ShownName
    status: SpaceStatus
    version: SpaceVersion


class SpaceUpdated(Body):
    """A space after an update; the contract leaves its code out."""

    space_id: Id[SpaceId]
    name: ShownName
    description: Maybe[ShownDescription] = None
    status: SpaceStatus
    version: SpaceVersion


class SpaceList(Listing[Space]):
    """One page of spaces."""


class SpaceOperationAccepted(Body):
    """A space's operation was accepted and will reach a terminal state."""

    space_id: Id[SpaceId]
    operation_id: Id[OperationId]
    status: OperationStatus
