"""The world of the matrix: a space that is granted in every way, one granted to nobody, and what is in them."""

from collections.abc import Iterator
from dataclasses import dataclass

from shared.contracts.enums import PrincipalKind
from shared.contracts.ids import DocumentId, SpaceId, SubjectId, TenantId
from shared.database.grants import Grant, insert_grants
from shared.domain.authorization import Principal
from shared.telemetry.stamps import new_id
from tests.integration.api.harness import START, Gateway
from tests.matrix.people import GRANTED_GROUP, GRANTED_ROLE, REAL, Relation, Role, caller
from tests.matrix.preparing import (
    GRACE,
    OWNER,
    STRANGER,
    administer,
    begin_upload,
    bring_file,
    cite,
    delete,
    end_upload,
    expire,
    make_account,
    make_document,
    make_failed,
    make_letters,
    make_link,
    make_reconciliation,
    make_token,
    making_of,
    text_of,
)


@dataclass(slots=True, kw_only=True)
class World:
    """Ids of what there is, and of what there is not."""

    space: str
    gone_space: str
    closed_space: str
    """DISABLED, and granted to nobody else."""
    other_space: str
    """Of the other tenant."""
    hidden_space: str
    beacon: str
    """A space that is granted to every caller of the tenant and domain: everybody has something to see."""
    secret_beacon: str
    """The same for callers of another domain."""
    document: str
    """In the granted space, and granted by itself too."""
    failed_document: str
    """In the granted space, and granted by itself too; its first version failed."""
    sibling: str
    """In the granted space."""
    gone_document: str
    hidden_document: str
    done: str
    """The operation that made the document."""
    gone_done: str
    """An operation on the deleted document."""
    failed: str
    gone_failed: str
    space_done: str
    """The operation that made the space."""
    gone_space_done: str
    citation: str
    gone_citation: str
    gone_link: str
    """The path of a download link to the deleted document."""
    file: str
    """Brought by the user that the space is granted to."""
    gone_file: str
    upload: str
    """Begun by the same user; nothing of it has arrived."""
    gone_upload: str
    account: str
    """The name of an account that the gateway keeps."""
    shut_account: str
    """The name of one that is disabled."""
    token: str
    """A service token's id."""
    ended_token: str
    running: str = ""
    """An upload that has not ended."""
    running_document: str = ""
    letter: str = ""
    """A dead letter that nobody has settled."""
    settled_letter: str = ""
    reconciliation: str = ""


async def make_world(gateway: Gateway) -> World:
    """Fill the gateway."""
    space = await gateway.make_space("granted", OWNER)
    hidden = await gateway.make_space("hidden", OWNER)
    gone_space = await gateway.make_space("gone", OWNER)
    other_space = await gateway.make_space("foreign", STRANGER)
    closed = await gateway.make_space("closed", OWNER)
    document, done = await make_document(gateway, space, "Travel")
    sibling, _ = await make_document(gateway, space, "Food")
    gone_document, gone_done = await make_document(gateway, space, "Trains")
    hidden_document, _ = await make_document(gateway, hidden, "Secrets")
    failed_document, failed = await make_failed(gateway, space, "Sealed")
    gone_failed_document, gone_failed = await make_failed(gateway, space, "Broken")
    world = World(
        space=space,
        gone_space=gone_space,
        closed_space=closed,
        other_space=other_space,
        hidden_space=hidden,
        beacon=await gateway.make_space("beacon", OWNER),
        secret_beacon=await gateway.make_space("secret", OWNER, "secret"),
        document=document,
        failed_document=failed_document,
        sibling=sibling,
        gone_document=gone_document,
        hidden_document=hidden_document,
        done=done,
        gone_done=gone_done,
        failed=failed,
        gone_failed=gone_failed,
        space_done=await making_of(gateway, space),
        gone_space_done=await making_of(gateway, gone_space),
        citation=await cite(gateway, document),
        gone_citation=await cite(gateway, gone_document),
        gone_link=await make_link(gateway, gone_document, OWNER),
        file=await bring_file(gateway, "kept"),
        gone_file=await bring_file(gateway, "expired"),
        upload=await begin_upload(gateway, GRACE),
        gone_upload=await begin_upload(gateway, GRACE),
        account=await make_account(gateway, "victor"),
        shut_account=await make_account(gateway, "sean"),
        token=await make_token(gateway),
        ended_token=await make_token(gateway),
    )
    await administer(gateway, "POST", f"/accounts/{world.shut_account}:disable", {})
    await administer(gateway, "POST", f"/service-tokens/{world.ended_token}:revoke", {})
    await administer(gateway, "POST", f"/spaces/{closed}:disable", {})
    await expire(gateway, world.gone_file)
    await end_upload(gateway, world.gone_upload, GRACE)
    await gateway.parts.database.write(lambda conn: insert_grants(conn, list(_grants(world))))
    await delete(gateway, f"/documents/{gone_document}", 1)
    await delete(gateway, f"/documents/{gone_failed_document}", 0)
    await delete(gateway, f"/spaces/{gone_space}", 1)
    waiting = await gateway.accept_document(space, "Waiting", text_of("Waiting"), OWNER)
    world.running, world.running_document = waiting["operationId"], waiting["documentId"]
    world.letter, world.settled_letter = await make_letters(gateway)
    world.reconciliation = await make_reconciliation(gateway)
    return world


def _grants(world: World) -> Iterator[Grant]:
    """To a user, a group and a role on spaces, to somebody else on single documents, and a beacon for each."""
    users = {relation: Principal(PrincipalKind.USER, caller(Role.READER, relation).subject) for relation in REAL}
    user, alone = users[Relation.GRANTED_TO_USER], users[Relation.DOCUMENT_ALONE]
    whole = (user, Principal(PrincipalKind.GROUP, GRANTED_GROUP), Principal(PrincipalKind.ROLE, GRANTED_ROLE))
    for space in (world.space, world.gone_space):
        yield from (_grant(space, None, principal) for principal in whole)
    yield from (_grant(world.space, document, alone) for document in (world.document, world.failed_document))
    yield from (_grant(world.beacon, None, principal) for principal in set(users.values()))
    yield _grant(world.secret_beacon, None, users[Relation.OTHER_DOMAIN])


def _grant(space: str, document: str | None, principal: Principal) -> Grant:
    return Grant(
        tenant_id=TenantId(OWNER.tenant),
        space_id=SpaceId(space),
        document_id=None if document is None else DocumentId(document),
        principal=principal,
        created_by=SubjectId(OWNER.subject),
        created_at=START,
    )


def unknown(id_: str) -> str:
    """An id of the same form that names nothing."""
    return new_id(id_.split("_", 1)[0])
