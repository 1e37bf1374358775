from shared.providers.embedded.parsers.pdf_lines import Line, ends_paragraph, join_wrapped, starts_item


def line(text: str) -> Line:
    return Line(text=text, size=10)


def test_wrapped_lines_join_with_a_space_in_english_and_none_in_chinese() -> None:
    assert join_wrapped("hang a", line("padlock"), after_hyphen=False) == "hang a padlock"
    assert (
        join_wrapped("出口依次安装止回阀与闸阀", line("，管路重量"), after_hyphen=False)
        == "出口依次安装止回阀与闸阀，管路重量"
    )
    assert join_wrapped("型号", line("HBX"), after_hyphen=False) == "型号 HBX"


def test_a_word_broken_at_the_line_end_is_whole_again() -> None:
    assert join_wrapped("the descen", line("der"), after_hyphen=True) == "the descender"


def test_a_sentence_that_ends_short_of_the_margin_ends_its_paragraph() -> None:
    assert ends_paragraph(line("It ends here."), width=80)
    assert not ends_paragraph(line("It ends at the margin, by chance, and so it may well go on."), width=60)
    assert not ends_paragraph(line("It goes on"), width=80)


def test_list_items_are_told_from_numbers() -> None:
    assert starts_item(line("• gloves"))
    assert starts_item(line("2) goggles"))
    assert starts_item(line("（三）护目镜"))
    assert not starts_item(line("12.5 metres per second"))
    assert not starts_item(line("12 metres per second"))
