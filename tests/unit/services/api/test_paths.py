"""Raw paths: which part is the id and which the action."""

import pytest

from services.api.edge.paths import decode_id, split_action


@pytest.mark.parametrize(
    ("raw", "routed"),
    [
        ("/documents/doc_1", "/documents/doc_1"),
        ("/documents/doc_1:replace", "/documents/doc_1/:replace"),
        ("/documents/a%3Ab%2Fc:create-download-link", "/documents/a%3Ab%2Fc/:create-download-link"),
        ("/documents/a:b:c", "/documents/a/:b:c"),
        ("/documents/:replace", "/documents//:replace"),
        ("/documents/doc_1/:replace", "/documents/doc_1//:replace"),
        ("/spaces/a:b/documents", "/spaces/a:b/documents"),
        ("/documents/..:replace", "/documents/../:replace"),
        ("/documents/{documentId}:replace", "/documents/{documentId}/:replace"),
        ("/", "/"),
        ("*", "*"),
        ("", ""),
    ],
)
def test_the_action_gets_a_segment_of_its_own(raw: str, routed: str) -> None:
    assert split_action(raw) == routed


@pytest.mark.parametrize(
    ("segment", "identifier"),
    [
        ("doc_1", "doc_1"),
        ("a%3Ab%2Fc", "a:b/c"),
        ("%2E%2E", ".."),
        ("%E5%AD%97", "字"),
        ("%25", "%"),
        ("a+b", "a+b"),
        ("%FF", None),
        ("%00", None),
        ("a" * 257, None),
        ("", None),
    ],
)
def test_an_id_is_decoded_once_or_is_none(segment: str, identifier: str | None) -> None:
    assert decode_id(segment) == identifier
