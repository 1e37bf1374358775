"""What comes from outside becomes a model, or a list of what is wrong that repeats no value."""

import re

import pytest

from shared.contracts.body import Body
from shared.contracts.documents import DocumentLockRequest, DocumentUploadRequest, EmptyRequest
from shared.contracts.errors import ErrorCode, RequestRefused
from shared.contracts.paging import ListQuery
from shared.contracts.reading import FAULTS, json_path, read_body, read_query
from shared.contracts.retrieval import CitationContextQuery, RetrievalRequest
from shared.contracts.spaces import SpaceCreateRequest

SPACE = b'{"code":"c","name":"n","profileCode":"enterprise-long-document","defaultSecurityDomainCode":"d"%s}'


def refusal_of(model: type[Body], body: bytes) -> tuple[ErrorCode, list[tuple[str, str]]]:
    with pytest.raises(RequestRefused) as refused:
        read_body(model, body)
    return refused.value.code, [(error.field, error.reason) for error in refused.value.field_errors]


@pytest.mark.parametrize(
    ("extra", "errors"),
    [
        (b',"description":null', [("$.description", "WRONG_TYPE")]),
        (b',"tenantId":"t"', [("$.tenantId", "UNKNOWN_FIELD")]),
        (b',"profile_code":"enterprise-long-document"', [("$.profile_code", "UNKNOWN_FIELD")]),
        (b',"__proto__":{}', [("$.__proto__", "UNKNOWN_FIELD")]),
        (b',"code":5', [("$.code", "WRONG_TYPE")]),
        (b',"code":true', [("$.code", "WRONG_TYPE")]),
        (b',"code":""', [("$.code", "WRONG_LENGTH")]),
        (b',"code":"a b"', [("$.code", "WHITE_SPACE")]),
        (b',"code":"a\\ufeff"', [("$.code", "WHITE_SPACE")]),
        (b',"code":"a\\u0000"', [("$.code", "CONTROL_CHARACTER")]),
        (b',"name":"%s"' % (b"x" * 129), [("$.name", "WRONG_LENGTH")]),
        (b',"profileCode":"x","a b":1', [("$.profileCode", "NOT_ALLOWED"), ('$["a b"]', "UNKNOWN_FIELD")]),
    ],
)
def test_each_error_has_a_place_and_a_reason(extra: bytes, errors: list[tuple[str, str]]) -> None:
    assert refusal_of(SpaceCreateRequest, SPACE % extra) == (ErrorCode.INVALID_INPUT, errors)


@pytest.mark.parametrize(
    ("model", "body", "message"),
    [
        (SpaceCreateRequest, SPACE % b',"code":""', "Must have 1 or more characters"),
        (SpaceCreateRequest, SPACE % (b',"name":"%s"' % (b"x" * 129)), "Must have at most 128 characters"),
        (SpaceCreateRequest, SPACE % b',"code":5', "Must be a string"),
        (SpaceCreateRequest, SPACE % b',"profileCode":"x"', "Must be 'enterprise-long-document'"),
        (RetrievalRequest, b"{}", "Must be given"),
        (RetrievalRequest, b'{"query":"q","limit":0}', "Must be at least 1"),
        (RetrievalRequest, b'{"query":"q","limit":9}', "Must be at most 8"),
        (RetrievalRequest, b'{"query":"q","knowledgeSpaceIds":[]}', "Must hold 1 or more items"),
        (
            RetrievalRequest,
            b'{"query":"q","knowledgeSpaceIds":[%s]}' % b",".join(b'"%d"' % n for n in range(21)),
            "Must hold at most 20 items",
        ),
        (RetrievalRequest, b'{"query":"q","documentIds":["a","a"]}', "Must not repeat an item"),
    ],
)
def test_what_is_wrong_is_told_in_our_words(model: type[Body], body: bytes, message: str) -> None:
    with pytest.raises(RequestRefused) as refused:
        read_body(model, body)

    assert [error.message for error in refused.value.field_errors] == [message]
    assert refused.value.field_errors[0].reason != "INVALID"


@pytest.mark.parametrize("kind", FAULTS)
def test_every_fault_has_a_reason_and_a_sentence(kind: str) -> None:
    reason, sentence = FAULTS[kind]

    assert re.fullmatch("[A-Z]+(_[A-Z]+)*", reason)
    assert re.fullmatch("(Must|There is|The body) .*[^.]", sentence)


def test_every_missing_field_is_named() -> None:
    assert refusal_of(SpaceCreateRequest, b"{}") == (
        ErrorCode.INVALID_INPUT,
        [
            ("$.code", "MISSING"),
            ("$.name", "MISSING"),
            ("$.profileCode", "MISSING"),
            ("$.defaultSecurityDomainCode", "MISSING"),
        ],
    )


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b'{"code":"\\ud800"}', b'{"code":"\xff"}', b"{} {}", b'{"code":NaN}', b"[" * 5000, b"\xef\xbb\xbf{}"],
)
def test_what_is_no_json_is_refused_as_a_whole(body: bytes) -> None:
    code, errors = refusal_of(SpaceCreateRequest, body)

    assert code is ErrorCode.INVALID_INPUT
    assert errors[0] in [("$", "NOT_JSON"), ("$.code", "WRONG_TYPE")]


@pytest.mark.parametrize("body", [b"[]", b"null", b'"x"', b"5"])
def test_a_body_is_an_object(body: bytes) -> None:
    assert refusal_of(SpaceCreateRequest, body) == (ErrorCode.INVALID_INPUT, [("$", "WRONG_TYPE")])


def test_a_metadata_error_comes_before_all_others() -> None:
    body = b'{"documentName":5,"extra":1,"metadata":{"tags":["a","b"," a"]}}'

    assert refusal_of(DocumentUploadRequest, body) == (
        ErrorCode.METADATA_VALUE_INVALID,
        [("$.metadata.tags[2]", "REPEATED")],
    )


def test_a_filter_error_comes_before_all_others() -> None:
    body = b'{"limit":99,"metadataFilter":{"owner":["a"]}}'

    assert refusal_of(RetrievalRequest, body) == (
        ErrorCode.METADATA_FILTER_FIELD_NOT_ALLOWED,
        [("$.metadataFilter", "UNKNOWN_FIELD")],
    )


def test_metadata_are_normalised_while_they_are_read() -> None:
    request = read_body(
        DocumentUploadRequest, '{"fileResourceId":"f","documentName":"n","metadata":{"category":" 财务 "}}'.encode()
    )

    assert request.metadata is not None
    assert request.metadata.category == "财务"


def test_metadata_have_no_place_beside_a_lock_version() -> None:
    with pytest.raises(RequestRefused) as refused:
        read_body(DocumentLockRequest, b'{"expectedVersion":0,"metadata":{"tags":null}}')

    assert refused.value.code is ErrorCode.INVALID_INPUT


def test_an_empty_request_is_an_empty_object() -> None:
    assert read_body(EmptyRequest, b" {} ") == EmptyRequest()
    with pytest.raises(RequestRefused):
        read_body(EmptyRequest, b"")


def test_no_value_is_repeated_in_an_error() -> None:
    body = SPACE % b',"code":"top secret","description":["top secret"],"name":"%s"' % (b"top secret" * 20)

    with pytest.raises(RequestRefused) as refused:
        read_body(SpaceCreateRequest, body)

    assert len(refused.value.field_errors) == 3
    assert all("secret" not in error.to_json().decode() for error in refused.value.field_errors)
    assert refused.value.__cause__ is None


def test_a_hundred_errors_are_enough() -> None:
    body = b"{%s}" % b",".join(b'"x%d":1' % number for number in range(300))

    assert len(refusal_of(SpaceCreateRequest, body)[1]) == 100


def test_a_path_is_quoted_where_it_must_be_and_cut_where_it_is_long() -> None:
    assert json_path(()) == "$"
    assert json_path(("metadata", "tags", 2)) == "$.metadata.tags[2]"
    assert json_path(("a.b", "\n")) == '$["a.b"]["\\n"]'
    assert len(json_path(("x" * 5000,))) == 256


def test_a_query_is_read_with_its_defaults() -> None:
    assert read_query(ListQuery, []) == ListQuery(page=1, page_size=20)
    assert read_query(ListQuery, [("page", "3"), ("pageSize", "100")]) == ListQuery(page=3, page_size=100)
    assert read_query(CitationContextQuery, [("contextBefore", "0")]).context_before == 0


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("page", "0", "OUT_OF_RANGE"),
        ("page", "-1", "OUT_OF_RANGE"),
        ("pageSize", "101", "OUT_OF_RANGE"),
        ("page", "", "WRONG_TYPE"),
        ("page", "1.0", "WRONG_TYPE"),
        ("page", "01", "WRONG_TYPE"),
        ("page", "+1", "WRONG_TYPE"),
        ("page", " 1", "WRONG_TYPE"),
        ("page", "1\n", "WRONG_TYPE"),
        ("page", "1_0", "WRONG_TYPE"),
        ("page", "٣", "WRONG_TYPE"),
        ("page", "1e3", "WRONG_TYPE"),
        ("page", "true", "WRONG_TYPE"),
        ("page", "9007199254740992", "OUT_OF_RANGE"),
        ("page", "9" * 5000, "WRONG_TYPE"),
        ("page_size", "10", "UNKNOWN_FIELD"),
        ("cursor", "x", "UNKNOWN_FIELD"),
    ],
)
def test_a_wrong_query_is_refused(name: str, value: str, reason: str) -> None:
    with pytest.raises(RequestRefused) as refused:
        read_query(ListQuery, [(name, value)])

    assert refused.value.code is ErrorCode.INVALID_INPUT
    assert [(error.field, error.reason) for error in refused.value.field_errors] == [(f"$.{name}", reason)]


def test_a_query_names_nothing_twice() -> None:
    with pytest.raises(RequestRefused) as refused:
        read_query(ListQuery, [("page", "1"), ("page", "1")])

    assert [error.reason for error in refused.value.field_errors] == ["REPEATED"]
