"""Metadata are normalised, refused with their own codes, changed field by field."""

import json
from collections.abc import Callable

import pytest
from pydantic import ValidationError

from shared.contracts.errors import ErrorCode, RequestRefused
from shared.contracts.metadata import (
    DocumentMetadata,
    DocumentMetadataOutput,
    DocumentMetadataPatch,
    MetadataFilter,
    normalise_metadata,
    normalise_metadata_filter,
    normalise_metadata_patch,
    refuse_oversize,
)

COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"
CURRENT = DocumentMetadataOutput(category="财务", tags=("a", "b"), version_label="v1", product_code="p")

VALUE_INVALID = ErrorCode.METADATA_VALUE_INVALID
FIELD_NOT_ALLOWED = ErrorCode.METADATA_FIELD_NOT_ALLOWED


def refusal(normalise: Callable[[object], object], raw: object) -> tuple[ErrorCode, str]:
    with pytest.raises(RequestRefused) as refused:
        normalise(raw)
    (error,) = refused.value.field_errors
    return refused.value.code, error.field


def test_text_is_composed_and_trimmed_and_keeps_its_case() -> None:
    read = normalise_metadata({"category": f"\ufeff {DECOMPOSED} X ", "tags": ["\u3000财务"], "versionLabel": "V1"})

    assert read == DocumentMetadata(category=f"{COMPOSED} X", tags=("财务",), version_label="V1")


def test_an_empty_object_is_empty_metadata() -> None:
    assert normalise_metadata({}).to_output() == DocumentMetadataOutput(
        category=None, tags=(), version_label=None, product_code=None
    )


def test_lengths_count_after_normalisation() -> None:
    read = normalise_metadata({"category": f" {'😀' * 64} ", "tags": ["e\u0301" * 32]})

    assert read == DocumentMetadata(category="😀" * 64, tags=("\u00e9" * 32,))


@pytest.mark.parametrize(
    ("raw", "code", "path"),
    [
        (None, VALUE_INVALID, "$.metadata"),
        ([], VALUE_INVALID, "$.metadata"),
        ("x", VALUE_INVALID, "$.metadata"),
        ({"owner": "x"}, FIELD_NOT_ALLOWED, "$.metadata"),
        ({"category": None, "owner": "x"}, FIELD_NOT_ALLOWED, "$.metadata"),
        ({"version_label": "x"}, FIELD_NOT_ALLOWED, "$.metadata"),
        ({"category": None}, VALUE_INVALID, "$.metadata.category"),
        ({"category": ""}, VALUE_INVALID, "$.metadata.category"),
        ({"category": " \ufeff "}, VALUE_INVALID, "$.metadata.category"),
        ({"category": "x" * 65}, VALUE_INVALID, "$.metadata.category"),
        ({"category": "a\u0085"}, VALUE_INVALID, "$.metadata.category"),
        ({"category": "a\tb"}, VALUE_INVALID, "$.metadata.category"),
        ({"category": "\ud800"}, VALUE_INVALID, "$.metadata.category"),
        ({"category": 5}, VALUE_INVALID, "$.metadata.category"),
        ({"category": True}, VALUE_INVALID, "$.metadata.category"),
        ({"tags": None}, VALUE_INVALID, "$.metadata.tags"),
        ({"tags": "a"}, VALUE_INVALID, "$.metadata.tags"),
        ({"tags": {"0": "a"}}, VALUE_INVALID, "$.metadata.tags"),
        ({"tags": [str(number) for number in range(21)]}, VALUE_INVALID, "$.metadata.tags"),
        ({"tags": ["a", "b", None]}, VALUE_INVALID, "$.metadata.tags[2]"),
        ({"tags": ["x" * 33]}, VALUE_INVALID, "$.metadata.tags[0]"),
        ({"tags": ["财务", " 财务 "]}, VALUE_INVALID, "$.metadata.tags[1]"),
        ({"tags": [COMPOSED, DECOMPOSED]}, VALUE_INVALID, "$.metadata.tags[1]"),
    ],
)
def test_wrong_metadata_have_a_code_and_a_place(raw: object, code: ErrorCode, path: str) -> None:
    assert refusal(normalise_metadata, raw) == (code, path)


def test_tags_may_be_empty_and_differ_by_case() -> None:
    assert normalise_metadata({"tags": []}).tags == ()
    assert normalise_metadata({"tags": ["a", "A"]}).tags == ("a", "A")


def test_a_refusal_does_not_repeat_what_was_sent() -> None:
    with pytest.raises(RequestRefused) as refused:
        normalise_metadata({"secret-field": "secret-value", "category": "secret-value\n"})

    assert "secret" not in refused.value.field_errors[0].to_json().decode()


def test_metadata_are_measured_as_compact_json_that_is_not_escaped() -> None:
    values = {"category": "财务"}

    refuse_oversize(values, "$.metadata", limit=len('{"category":""}') + 6)
    with pytest.raises(RequestRefused) as refused:
        refuse_oversize(values, "$.metadata", limit=len('{"category":""}') + 5)
    assert refused.value.code is ErrorCode.METADATA_TOO_LARGE


def test_the_largest_metadata_fit() -> None:
    tags = ["😀" * 31 + chr(0x1F600 + number) for number in range(20)]
    largest = {"category": "😀" * 64, "tags": tags, "versionLabel": "😀" * 64, "productCode": "😀" * 64}

    assert normalise_metadata(largest).tags == tuple(tags)


def test_a_patch_changes_what_it_names_and_nothing_else() -> None:
    patch = normalise_metadata_patch({"category": None, "versionLabel": " v2 "})

    assert patch.apply_to(CURRENT) == DocumentMetadataOutput(
        category=None, tags=("a", "b"), version_label="v2", product_code="p"
    )


def test_a_patch_clears_tags_by_an_empty_list() -> None:
    assert normalise_metadata_patch({"tags": []}).apply_to(CURRENT).tags == ()


def test_an_empty_patch_changes_nothing() -> None:
    assert normalise_metadata_patch({}).apply_to(CURRENT) == CURRENT


@pytest.mark.parametrize(
    ("raw", "code", "path"),
    [
        ({"tags": None}, VALUE_INVALID, "$.metadata.tags"),
        ({"category": ""}, VALUE_INVALID, "$.metadata.category"),
        ({"tagsAny": []}, FIELD_NOT_ALLOWED, "$.metadata"),
        (None, VALUE_INVALID, "$.metadata"),
    ],
)
def test_a_wrong_patch_is_refused(raw: object, code: ErrorCode, path: str) -> None:
    assert refusal(normalise_metadata_patch, raw) == (code, path)


@pytest.mark.parametrize("written", ["{}", '{"category":null}', '{"category":null,"tags":[],"versionLabel":"v"}'])
def test_a_patch_is_written_as_it_was_given(written: str) -> None:
    patch = normalise_metadata_patch(json.loads(written))

    assert patch.to_json().decode() == written
    assert DocumentMetadataPatch.model_validate_json(written) == patch


def test_a_filter_keeps_its_lists() -> None:
    read = normalise_metadata_filter({"category": [" a ", "b"], "tagsAny": ["t"], "tagsAll": ["t", "u"]})

    assert read == MetadataFilter(category=("a", "b"), tags_any=("t",), tags_all=("t", "u"))


@pytest.mark.parametrize(
    ("raw", "code", "path"),
    [
        ({"tags": ["a"]}, ErrorCode.METADATA_FILTER_FIELD_NOT_ALLOWED, "$.metadataFilter"),
        ({"category": []}, VALUE_INVALID, "$.metadataFilter.category"),
        ({"category": "a"}, VALUE_INVALID, "$.metadataFilter.category"),
        ({"tagsAll": None}, VALUE_INVALID, "$.metadataFilter.tagsAll"),
        ({"tagsAny": ["x" * 33]}, VALUE_INVALID, "$.metadataFilter.tagsAny[0]"),
        ({"productCode": ["a", " a"]}, VALUE_INVALID, "$.metadataFilter.productCode[1]"),
        ({"versionLabel": [str(number) for number in range(21)]}, VALUE_INVALID, "$.metadataFilter.versionLabel"),
    ],
)
def test_a_wrong_filter_is_refused(raw: object, code: ErrorCode, path: str) -> None:
    assert refusal(normalise_metadata_filter, raw) == (code, path)


def test_a_filter_may_be_longer_than_metadata() -> None:
    texts = ["😀" * 62 + f"{number:02}" for number in range(20)]

    assert normalise_metadata_filter({"category": texts}).category == tuple(texts)


@pytest.mark.parametrize("category", [" a", "a\ufeff", DECOMPOSED, "a\u0001", "", "x" * 65])
def test_an_answer_never_holds_text_that_the_client_would_refuse(category: str) -> None:
    with pytest.raises(ValidationError):
        DocumentMetadataOutput(category=category, tags=(), version_label=None, product_code=None)


def test_an_answer_never_repeats_a_tag() -> None:
    with pytest.raises(ValidationError):
        DocumentMetadataOutput(category=None, tags=("a", "a"), version_label=None, product_code=None)
