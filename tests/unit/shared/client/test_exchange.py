"""Requests carry what the contract demands, answers are held to it, and only what may be repeated is."""

import httpx
import pytest

from shared.client.errors import BrokenAnswer, Busy, Refused, Unreachable
from shared.client.gateway import Gateway
from shared.contracts.documents import DocumentUploadRequest
from shared.contracts.errors import ErrorCode
from shared.contracts.ids import DocumentId, FileResourceId, SpaceId
from tests.unit.shared.client.answering import META, SPACE, ScriptedGateway, body_of, refusal, success

UPLOAD = DocumentUploadRequest(file_resource_id=FileResourceId("frs_1"), document_name="Report")
ACCEPTED = {"documentId": "doc_1", "operationId": "op_1", "status": "PENDING"}


async def test_a_read_carries_the_headers_of_the_contract_and_no_key() -> None:
    scripted = ScriptedGateway([success(SPACE)])

    space = await Gateway(scripted.exchange()).get_space(SpaceId("spc_1"))

    assert space.code == "handbook"
    headers = scripted.asked[0].headers
    assert headers["Authorization"] == "Bearer service"
    assert headers["X-User-Assertion"] == "assertion-1"
    assert headers["X-Harness-Session-Id"] == "session-1"
    assert headers["X-Tool-Call-Id"] == "call-1"
    assert headers["X-Request-Id"] == "knowledge-eb8ccf651372cda868564a602768dbbd"
    assert "Idempotency-Key" not in headers
    assert "Content-Type" not in headers


async def test_an_id_never_becomes_an_action_or_another_path() -> None:
    scripted = ScriptedGateway([refusal(404, "SPACE_NOT_FOUND")])

    with pytest.raises(Refused):
        await Gateway(scripted.exchange()).get_space(SpaceId("a/b:delete?x"))

    assert scripted.asked[0].url.raw_path == b"/internal/v1/knowledge/spaces/a%2Fb%3Adelete%3Fx"


async def test_a_mutation_has_a_key_of_its_session_and_request() -> None:
    scripted = ScriptedGateway([success(ACCEPTED, status=202) for _ in range(3)])
    gateway = Gateway(scripted.exchange())

    await gateway.upload_document(SpaceId("spc_1"), UPLOAD)
    await gateway.upload_document(SpaceId("spc_1"), UPLOAD)
    await gateway.upload_document(SpaceId("spc_2"), UPLOAD)

    same, again, other = (request.headers["Idempotency-Key"] for request in scripted.asked)
    assert same == again != other
    assert body_of(scripted.bodies[0]) == {"fileResourceId": "frs_1", "documentName": "Report"}


async def test_a_given_key_takes_the_place_of_the_derived_one() -> None:
    scripted = ScriptedGateway([success(ACCEPTED, status=202)])

    await Gateway(scripted.exchange()).upload_document(SpaceId("spc_1"), UPLOAD, key="mine")

    assert scripted.asked[0].headers["Idempotency-Key"] == "mine"


async def test_what_failed_for_a_while_is_asked_again_under_the_same_key_with_a_fresh_assertion() -> None:
    busy = refusal(503, "PROVIDER_UNAVAILABLE", retryable=True)
    scripted = ScriptedGateway([busy, httpx.ConnectError("refused"), success(ACCEPTED, status=202)])

    await Gateway(scripted.exchange()).upload_document(SpaceId("spc_1"), UPLOAD)

    assert len({request.headers["Idempotency-Key"] for request in scripted.asked}) == 1
    assert len({request.headers["X-Request-Id"] for request in scripted.asked}) == 1
    assert [request.headers["X-User-Assertion"] for request in scripted.asked] == [
        "assertion-1",
        "assertion-2",
        "assertion-3",
    ]
    assert scripted.pauses == [1.0, 2.0]


async def test_the_gateway_says_when_to_ask_again() -> None:
    busy = refusal(429, "RATE_LIMITED", retryable=True, headers={"Retry-After": "7"})
    scripted = ScriptedGateway([busy, success(SPACE)])

    await Gateway(scripted.exchange()).get_space(SpaceId("spc_1"))

    assert scripted.pauses == [7.0]


async def test_patience_ends_with_the_last_failure() -> None:
    scripted = ScriptedGateway([refusal(503, "PROVIDER_UNAVAILABLE", retryable=True) for _ in range(2)])

    with pytest.raises(Busy) as failure:
        await Gateway(scripted.exchange(attempts=2)).get_space(SpaceId("spc_1"))

    assert (failure.value.answer.status, failure.value.code) == (503, ErrorCode.PROVIDER_UNAVAILABLE)


async def test_a_download_link_is_asked_for_once() -> None:
    scripted = ScriptedGateway([refusal(503, "PROVIDER_UNAVAILABLE", retryable=True)])

    with pytest.raises(Busy):
        await Gateway(scripted.exchange()).create_download_link(DocumentId("doc_1"))

    assert len(scripted.asked) == 1
    assert body_of(scripted.bodies[0]) == {}


async def test_a_refusal_tells_all_that_the_gateway_said_and_is_not_repeated() -> None:
    faults = [{"field": "$.documentName", "reason": "WRONG_LENGTH", "message": "Too long"}]
    scripted = ScriptedGateway([refusal(422, "KNOWLEDGE_INVALID_INPUT", faults=faults)])

    with pytest.raises(Refused) as failure:
        await Gateway(scripted.exchange()).upload_document(SpaceId("spc_1"), UPLOAD)

    answer = failure.value.answer
    assert (answer.status, answer.code, answer.message, answer.retryable) == (
        422,
        "KNOWLEDGE_INVALID_INPUT",
        "No.",
        False,
    )
    assert [(fault.field, fault.reason) for fault in answer.field_errors] == [("$.documentName", "WRONG_LENGTH")]
    assert answer.request_id == "request-1"


async def test_a_code_that_is_not_known_yet_keeps_its_text() -> None:
    scripted = ScriptedGateway([refusal(409, "SOMETHING_NEW")])

    with pytest.raises(Refused) as failure:
        await Gateway(scripted.exchange()).get_space(SpaceId("spc_1"))

    assert failure.value.answer.code == "SOMETHING_NEW"
    assert failure.value.code is ErrorCode.INTERNAL_ERROR


async def test_no_answer_names_the_address() -> None:
    scripted = ScriptedGateway([httpx.ConnectError("refused") for _ in range(3)])

    with pytest.raises(Unreachable, match=r"http://gateway\.test did not answer: refused"):
        await Gateway(scripted.exchange()).get_space(SpaceId("spc_1"))


@pytest.mark.parametrize(
    ("reply", "what"),
    [
        (httpx.Response(201, json={"data": SPACE, "meta": META}), "the status is 201 and should be 200"),
        (httpx.Response(200, json=SPACE), r"\$\.data: Must be given"),
        (httpx.Response(200, json={"data": SPACE | {"chunk": 1}, "meta": META}), r"\$\.data\.chunk"),
        (httpx.Response(200, json={"data": SPACE, "meta": META | {"apiVersion": "v2"}}), r"\$\.meta\.apiVersion"),
        (httpx.Response(200, text="{}"), "the content type is not application/json"),
        (httpx.Response(200, content=b"", headers={"Content-Type": "application/json"}), "not valid JSON"),
        (httpx.Response(307, headers={"Location": "/elsewhere"}), "status 307"),
        (httpx.Response(502, text="<html>bad gateway</html>"), "status 502"),
        (httpx.Response(404, json={"detail": "Not Found"}), "status 404"),
    ],
)
async def test_an_answer_outside_the_contract_is_refused_and_not_asked_for_again(
    reply: httpx.Response, what: str
) -> None:
    scripted = ScriptedGateway([reply])

    with pytest.raises(BrokenAnswer, match=what):
        await Gateway(scripted.exchange()).get_space(SpaceId("spc_1"))

    assert len(scripted.asked) == 1
