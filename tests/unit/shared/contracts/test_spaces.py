"""Requests about spaces."""

import pytest

from shared.contracts.errors import ErrorCode, RequestRefused
from shared.contracts.reading import read_body
from shared.contracts.spaces import SpaceCreateRequest, SpaceUpdateRequest


def test_a_name_is_kept_exactly_as_it_was_sent() -> None:
    request = read_body(
        SpaceCreateRequest,
        b'{"code":"c","name":" Cafe\\u0301 ","profileCode":"enterprise-long-document","defaultSecurityDomainCode":"d"}',
    )

    assert (request.name, request.description) == (" Cafe\u0301 ", None)


def test_there_is_one_profile() -> None:
    with pytest.raises(RequestRefused) as refused:
        read_body(SpaceCreateRequest, b'{"code":"c","name":"n","profileCode":"other","defaultSecurityDomainCode":"d"}')

    assert [error.field for error in refused.value.field_errors] == ["$.profileCode"]


def test_an_update_must_change_something() -> None:
    with pytest.raises(RequestRefused) as refused:
        read_body(SpaceUpdateRequest, b'{"expectedVersion":1}')

    assert refused.value.code is ErrorCode.INVALID_INPUT
    assert [error.message for error in refused.value.field_errors] == ["name or description must be given"]


def test_an_update_may_clear_the_description() -> None:
    assert read_body(SpaceUpdateRequest, b'{"expectedVersion":1,"description":""}').description == ""
