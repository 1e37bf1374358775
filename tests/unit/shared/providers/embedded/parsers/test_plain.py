from shared.providers.embedded.blocks import Block, heading, paragraph
from shared.providers.embedded.parsers.plain import blocks_of_text, numbered_level


def read(text: str) -> list[Block]:
    return list(blocks_of_text(text))


def test_title_chapters_and_lines_above_their_text_are_headings() -> None:
    body = "Set the chair so that thighs are level and feet are flat on the floor."

    assert read(f"Occupational Health Notes\n\nScreen work\n\nPosture\n{body}\n\nEyes\n{body}\n") == [
        heading("Occupational Health Notes", 1),
        heading("Screen work", 2),
        heading("Posture", 3),
        paragraph(body),
        heading("Eyes", 3),
        paragraph(body),
    ]


def test_chinese_chapter_numbers_tell_the_level() -> None:
    body = "所有业务系统口令长度不少于十四位，须同时包含大小写字母、数字和符号，每一百八十天强制更换。" * 2

    assert read(f"信息安全管理制度\n\n第一章 账号与口令\n\n1.1 口令强度\n{body}") == [
        heading("信息安全管理制度", 1),
        heading("第一章 账号与口令", 2),
        heading("1.1 口令强度", 3),
        paragraph(body),
    ]


def test_lines_of_like_length_are_not_headings() -> None:
    address = "Anna Ruiz\nHarbour Street 12\n20457 Hamburg"

    assert read(f"{address}\n\nShe answered on the same day, and the shipment left a week later.")[0] == paragraph(
        address
    )


def test_text_that_would_be_mostly_headings_has_none() -> None:
    chat = "ok\n\nsee you\n\nnot today\n\nfine"

    assert not any(block.is_heading for block in read(chat))


def test_list_items_and_sentences_are_not_headings() -> None:
    long = "The rest of the note is long enough that headings would not take most of it, if there were any at all."

    assert read(f"- buy milk\n\nDone.\n\n{long}") == [paragraph("- buy milk"), paragraph("Done."), paragraph(long)]


def test_old_line_ends_and_form_feeds_separate_paragraphs() -> None:
    first, second = "The first page ends here, after a sentence.", "The second begins with another one."

    assert read(f"{first}\r\n\r\n{second}\f{first}") == [paragraph(first), paragraph(second), paragraph(first)]


def test_numbers_in_front_tell_the_depth() -> None:
    assert [
        numbered_level(line) for line in ("2 Scope", "2.1 Oil", "2.1.3 Filter", "第二节 验收", "Chapter 4", "Scope")
    ] == [
        2,
        3,
        4,
        3,
        2,
        0,
    ]
