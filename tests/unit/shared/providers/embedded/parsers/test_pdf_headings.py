from dataclasses import replace

from shared.providers.embedded.parsers.pdf_headings import OutlineEntry, mark_headings
from shared.providers.embedded.parsers.pdf_lines import Line, Page


def line(text: str, size: float = 10) -> Line:
    return Line(text=text, size=size)


BODY = line("Before entering the hub, engage the rotor lock pins and hang a padlock on the main breaker." * 3)


def page(number: int, *lines: Line) -> Page:
    return Page(number=number, lines=lines)


def headings(pages: list[Page]) -> list[tuple[int, int, str]]:
    return [(page.number, line.level, line.text) for page in pages for line in page.lines if line.level]


def test_larger_letters_are_higher_headings() -> None:
    pages = [page(1, line("Manual", 22), line("1 Safety", 17), line("1.1 Lockout", 13.5), BODY, BODY)]

    assert headings(mark_headings(pages, [])) == [(1, 1, "Manual"), (1, 2, "1 Safety"), (1, 3, "1.1 Lockout")]


def test_a_heading_of_two_lines_is_one() -> None:
    pages = [page(1, line("Service Manual of the", 22), line("Wind Turbine", 22), BODY, BODY)]

    assert headings(mark_headings(pages, [])) == [(1, 1, "Service Manual of the Wind Turbine")]


def test_pages_that_are_mostly_large_have_no_headings() -> None:
    slide = [line("A large line of some forty characters....", 20) for _ in range(8)]

    assert headings(mark_headings([page(1, BODY, *slide)], [])) == []


def test_the_outline_marks_its_lines_and_leaves_the_title_above() -> None:
    pages = [page(1, line("Manual", 22), line("1 Safety", 17), BODY), page(2, line("2 Gear"), BODY)]
    outline = [
        OutlineEntry(title="1 Safety", level=1, page=1),
        OutlineEntry(title="2 Gear", level=1, page=2),
    ]

    assert headings(mark_headings(pages, outline)) == [(1, 1, "Manual"), (1, 2, "1 Safety"), (2, 2, "2 Gear")]


def test_an_outline_entry_finds_a_wrapped_or_numbered_heading() -> None:
    pages = [page(1, line("1.2 The rescue of"), line("injured people"), BODY)]
    outline = [OutlineEntry(title="The rescue of injured people", level=1, page=1)]

    marked = mark_headings(pages, outline)
    assert headings(marked) == [(1, 1, "The rescue of injured people")]
    assert marked[0].lines[1:] == (BODY,)


def test_an_outline_entry_that_is_nowhere_on_its_page_opens_the_page() -> None:
    marked = mark_headings([page(1, BODY)], [OutlineEntry(title="Unseen", level=1, page=1)])

    assert [line.level for line in marked[0].lines] == [1, 0]


def test_running_heads_page_numbers_and_dotted_contents_are_dropped() -> None:
    pages = [
        page(number, line(f"Manual - {number} -"), replace(BODY, text=f"{BODY.text} {number}"), line(f"{number}"))
        for number in (1, 2, 3)
    ]
    pages[0] = replace(pages[0], lines=(*pages[0].lines, line("1.1 Lockout ........ 12")))

    assert [[line.text[:6] for line in page.lines] for page in mark_headings(pages, [])] == [["Before"]] * 3


def test_a_line_that_merely_comes_twice_on_two_pages_is_kept() -> None:
    pages = [page(number, line("Keep hands away"), BODY) for number in (1, 2)]

    assert [page.lines[0].text for page in mark_headings(pages, [])] == ["Keep hands away"] * 2
