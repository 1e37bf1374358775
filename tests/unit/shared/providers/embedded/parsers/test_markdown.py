import pytest

from shared.providers.embedded.blocks import Block, heading, paragraph
from shared.providers.embedded.parsers.markdown import blocks_of_markdown, plain_title


def read(text: str) -> list[Block]:
    return list(blocks_of_markdown(text))


def test_atx_and_setext_headings_have_their_levels() -> None:
    assert read("Guide\n=====\n\nFirst\n-----\ntext\n\n### Deep ###\nmore") == [
        heading("Guide", 1),
        heading("First", 2),
        paragraph("text"),
        heading("Deep", 3),
        paragraph("more"),
    ]


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_fenced_code_is_one_paragraph_and_never_a_heading(fence: str) -> None:
    code = f"{fence}sh\n# install\n\nmake setup\n---\n{fence}"

    assert read(f"# Setup\n\n{code}\n\nafter") == [heading("Setup", 1), paragraph(code), paragraph("after")]


def test_a_shorter_fence_inside_a_longer_one_does_not_close_it() -> None:
    code = "````\n```\n# not a heading\n```\n````"

    assert read(code) == [paragraph(code)]


def test_a_fence_that_is_never_closed_runs_to_the_end() -> None:
    assert read("```\n# code\n\n# more") == [paragraph("```\n# code\n\n# more")]


def test_a_rule_a_list_and_a_table_do_not_make_headings() -> None:
    assert read("text\n\n---\n\n- item\n---\n\n| a | b |\n|---|---|\n| 1 | 2 |") == [
        paragraph("text"),
        paragraph("- item"),
        paragraph("| a | b |\n|---|---|\n| 1 | 2 |"),
    ]


def test_the_title_of_front_matter_heads_a_document_that_has_none() -> None:
    assert read('---\ntitle: "Release notes"\ntags: [a]\n---\ntext') == [heading("Release notes", 1), paragraph("text")]
    assert read("---\ntitle: Other\n---\n# Own\n\ntext") == [heading("Own", 1), paragraph("text")]


def test_comments_are_dropped_and_hashes_without_space_are_text() -> None:
    assert read("<!-- draft -->\n\n#hashtag") == [paragraph("#hashtag")]


def test_a_title_loses_its_markup() -> None:
    assert plain_title("**Retry** with `client.retry_max` and [docs](https://example.com)") == (
        "Retry with client.retry_max and docs"
    )
    assert plain_title("snake_case_name") == "snake_case_name"


def test_a_very_long_line_is_text_whatever_it_begins_with() -> None:
    line = "# " + "[" * 100_000

    assert read(line) == [paragraph(line)]
