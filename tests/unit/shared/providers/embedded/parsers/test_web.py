from pathlib import Path

import pytest

from shared.providers.embedded.blocks import Block, heading, paragraph, record
from shared.providers.embedded.parsers.web import blocks_of_html, parse_web


def read(html: str) -> list[Block]:
    return list(blocks_of_html(html))


def test_only_the_main_text_is_read() -> None:
    page = (
        "<html><head><title>Help</title><style>p{}</style><script>var x</script></head><body><nav>Menu</nav>"
        "<h1>Questions</h1><p>Hold the <b>button</b> for five seconds.</p><p hidden>no</p>"
        "<footer>imprint</footer></body></html>"
    )

    assert read(page) == [heading("Questions", 1), paragraph("Hold the button for five seconds.")]


def test_the_title_stands_in_for_a_missing_first_heading() -> None:
    assert read("<title>Help</title><body><p>text</p></body>") == [heading("Help", 1), paragraph("text")]


def test_nested_lists_give_every_item_once() -> None:
    assert read("<ul><li>one<ul><li>two</li><li>three</li></ul></li><li>four</li></ul>") == [
        paragraph("one"),
        paragraph("two"),
        paragraph("three"),
        paragraph("four"),
    ]


def test_a_table_gives_a_record_a_row() -> None:
    assert read(
        "<table><tr><th>Code</th><th>Meaning</th></tr><tr><td>E-4312</td><td><p>no water</p></td></tr></table>"
    ) == [
        record("Code | Meaning"),
        record("E-4312 | no water"),
    ]


def test_a_table_that_only_lays_out_the_page_is_read_as_text() -> None:
    assert read("<table><tr><td><h2>News</h2><p>text</p></td><td>side</td></tr></table>") == [
        heading("News", 2),
        paragraph("text"),
        paragraph("side"),
    ]


def test_white_space_of_the_source_is_folded_but_not_inside_pre() -> None:
    assert read("<p>a\n   b<br>c</p><pre>x\n  y</pre>") == [paragraph("a b\nc"), paragraph("x\n  y")]


def test_a_heading_may_hold_blocks() -> None:
    assert read("<h2><div>Part</div><div>One</div></h2><p>t</p>") == [heading("Part One", 2), paragraph("t")]


def test_main_wins_over_what_stands_around_it() -> None:
    text = "The main text is longer than all the rest of the page together."

    assert read(f"<div>advert</div><main><p>{text}</p></main>") == [paragraph(text)]


@pytest.mark.parametrize("charset", ["gb2312", "utf-8"])
def test_the_charset_in_the_head_is_believed_unless_it_is_wrong(tmp_path: Path, charset: str) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(f'<meta charset="{charset}"><p>长按按键五秒</p>'.encode("gbk"))

    assert list(parse_web(path, lambda done, total: None)) == [paragraph("长按按键五秒")]


def test_deep_nesting_is_no_recursion() -> None:
    assert read("<div>" * 3000 + "deep" + "</div>" * 3000) == [paragraph("deep")]
