"""Spaces over HTTP."""

import pytest

from tests.integration.api.harness import BOB, FOREIGNER, READER, Gateway, checked_error, space_request


async def test_a_created_space_is_answered_at_once_with_exactly_five_fields(gateway: Gateway) -> None:
    answer = await gateway.post("/spaces", space_request("handbook"))

    assert answer.status_code == 201
    data = answer.json()["data"]
    assert data.pop("spaceId").startswith("spc_")
    assert data == {"code": "handbook", "name": "The handbook", "status": "CREATING", "version": 1}


async def test_a_space_becomes_active_when_its_provider_side_is_there(gateway: Gateway) -> None:
    space_id = await gateway.make_space("handbook")

    answer = await gateway.get(f"/spaces/{space_id}")

    assert answer.status_code == 200
    assert answer.json()["data"] == {
        "spaceId": space_id,
        "code": "handbook",
        "name": "The handbook",
        "profileCode": "enterprise-long-document",
        "defaultSecurityDomainCode": "general",
        "status": "ACTIVE",
        "version": 1,
    }


async def test_the_code_of_a_space_is_taken_until_the_space_is_deleted(gateway: Gateway) -> None:
    await gateway.make_space("handbook")

    answer = await gateway.post("/spaces", space_request("handbook"))

    error = checked_error(answer, 409, "KNOWLEDGE_CONFLICT")
    assert error["fieldErrors"][0]["field"] == "$.code"


async def test_another_tenant_may_have_the_same_code(gateway: Gateway) -> None:
    await gateway.make_space("handbook")

    assert (await gateway.post("/spaces", space_request("handbook"), FOREIGNER)).status_code == 201


async def test_a_space_is_made_only_in_a_security_domain_of_its_maker(gateway: Gateway) -> None:
    answer = await gateway.post("/spaces", space_request(domain="secret"))

    checked_error(answer, 403, "KNOWLEDGE_FORBIDDEN")


async def test_a_reader_makes_no_space(gateway: Gateway) -> None:
    checked_error(await gateway.post("/spaces", space_request(), READER), 403, "KNOWLEDGE_FORBIDDEN")


async def test_unknown_foreign_and_invisible_spaces_are_the_same_404(gateway: Gateway) -> None:
    space_id = await gateway.make_space()

    unknown = checked_error(await gateway.get("/spaces/spc_none"), 404, "SPACE_NOT_FOUND")
    foreign = checked_error(await gateway.get(f"/spaces/{space_id}", FOREIGNER), 404, "SPACE_NOT_FOUND")
    invisible = checked_error(await gateway.get(f"/spaces/{space_id}", BOB), 404, "SPACE_NOT_FOUND")

    assert unknown == foreign == invisible


@pytest.mark.parametrize(
    "segment", ["%2E", "%2E%2E", "%00", "%FF%FE", "a%2Fb", "a%3Ab", "x" * 257, "%20", "' OR 1=1 --", "🎈"]
)
async def test_an_id_that_nothing_can_have_is_a_404(gateway: Gateway, segment: str) -> None:
    answer = await gateway.get(f"/spaces/{segment}")

    checked_error(answer, 404, "SPACE_NOT_FOUND")


async def test_pages_add_up_and_come_in_the_order_of_creation(gateway: Gateway) -> None:
    for number in range(5):
        await gateway.make_space(f"space-{number}")
    await gateway.make_space("not-alices", BOB)

    pages = [await gateway.get("/spaces", page=page, pageSize=2) for page in (1, 2, 3, 4)]

    codes = [[item["code"] for item in page.json()["data"]["items"]] for page in pages]
    assert codes == [["space-0", "space-1"], ["space-2", "space-3"], ["space-4"], []]
    assert [page.json()["meta"]["pagination"] for page in pages] == [
        {"page": 1, "pageSize": 2, "totalItems": 5, "totalPages": 3, "hasNext": True},
        {"page": 2, "pageSize": 2, "totalItems": 5, "totalPages": 3, "hasNext": True},
        {"page": 3, "pageSize": 2, "totalItems": 5, "totalPages": 3, "hasNext": False},
        {"page": 4, "pageSize": 2, "totalItems": 5, "totalPages": 3, "hasNext": False},
    ]


@pytest.mark.parametrize(
    "params", [{"page": 0}, {"pageSize": 101}, {"pageSize": 0}, {"page": "1.5"}, {"page": "01"}, {"page": 10**20}]
)
async def test_a_page_that_cannot_be_is_a_422(gateway: Gateway, params: dict[str, object]) -> None:
    checked_error(await gateway.get("/spaces", **params), 422, "KNOWLEDGE_INVALID_INPUT")


async def test_the_last_page_there_can_be_is_empty(gateway: Gateway) -> None:
    answer = await gateway.get("/spaces", page=2**53 - 1, pageSize=100)

    assert answer.status_code == 200
    assert answer.json()["data"] == {"items": []}


async def test_a_list_of_spaces_begins_after_one_that_the_caller_may_see(gateway: Gateway) -> None:
    first = await gateway.make_space("first")
    second = await gateway.make_space("second")
    foreign = await gateway.make_space("foreign", FOREIGNER)

    listed = (await gateway.get("/spaces", after=first)).json()

    assert [item["spaceId"] for item in listed["data"]["items"]] == [second]
    checked_error(await gateway.get("/spaces", after=foreign), 404, "SPACE_NOT_FOUND")


@pytest.mark.parametrize("place", ["123", "-5", "0", "007", "9007199254740993"])
async def test_an_unknown_id_that_looks_like_a_number_is_an_unknown_id(gateway: Gateway, place: str) -> None:
    space_id = await gateway.make_space()

    checked_error(await gateway.get("/spaces", after=place), 404, "SPACE_NOT_FOUND")
    checked_error(await gateway.get(f"/spaces/{space_id}/documents", after=place), 404, "DOCUMENT_NOT_FOUND")
