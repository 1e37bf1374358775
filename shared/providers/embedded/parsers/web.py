"""HTML: the main text without scripts, navigation and footers; headings, paragraphs, list items, table rows."""

import re
from collections.abc import Iterator
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser, LexborNode

from shared.providers.embedded.blocks import Block, PageReport, heading, paragraph, record
from shared.providers.embedded.parsers.encodings import decode, read_content
from shared.providers.embedded.parsers.tables import joined_row

_DROPPED = (
    "script,style,noscript,template,nav,footer,iframe,object,svg,canvas,button,select,textarea,dialog,"
    "[hidden],[aria-hidden=true],[role=navigation],[role=banner] nav"
)
_HEADING = re.compile(r"h([1-6])$")
_BLOCKS = (
    "address article aside blockquote body caption center dd details dir div dl dt fieldset figcaption figure form "
    "header hgroup hr html legend li main menu ol p pre section summary table tbody td tfoot th thead tr ul"
)
_BLOCK_TAGS = frozenset(_BLOCKS.split())
_MARK_CHARSET = re.compile(rb"<meta[^>]+charset=[\"']?\s*([\w-]+)", re.IGNORECASE)
_SPACES = re.compile(r"\s+")
_LINE_EDGES = re.compile(r" *\n *")
_LAYOUT = "h1,h2,h3,h4,h5,h6,table,ul,ol,pre"
_ENTER, _LEAVE = True, False


def parse_web(path: Path, report: PageReport) -> Iterator[Block]:
    """Read an HTML file; the charset named in its head counts before any guess."""
    del report
    content = read_content(path)
    match = _MARK_CHARSET.search(content[:4096])
    if match and not content.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        charset = match[1].decode().lower()
        try:
            return blocks_of_html(content.decode("gb18030" if charset in ("gb2312", "gbk") else charset))
        except (UnicodeDecodeError, LookupError):
            pass  # A wrong label: what the bytes say decides.
    return blocks_of_html(decode(content))


def blocks_of_html(text: str) -> Iterator[Block]:
    """Walk the main part of a page in document order."""
    tree = LexborHTMLParser(text)
    title = tree.css_first("head > title")
    title_text = title.text() if title is not None else ""
    for node in tree.css(_DROPPED):
        node.decompose()
    root = _main_part(tree)
    if root is None:
        return
    if title_text.strip() and root.css_first("h1") is None:
        yield heading(title_text, 1)
    yield from _Walk().read(root)


def _main_part(tree: LexborHTMLParser) -> LexborNode | None:
    """The `main` element, or the only `article`, unless most of the text stands outside of it."""
    body = tree.body
    for selector in ("main", "article"):
        found = tree.css(selector)
        if body is not None and len(found) == 1 and len(found[0].text()) >= 0.5 * len(body.text().strip()):
            return found[0]
    return body


class _Walk:
    """Depth first without recursion (pages nest as deep as they like); text gathers until a block begins or ends.

    Inside a heading or a row of data nothing begins or ends a block: `_inside` names the element that must close first.
    """

    def __init__(self) -> None:
        self._text: list[str] = []
        self._cells: list[str] = []
        self._inside: LexborNode | None = None
        self._verbatim = 0

    def read(self, root: LexborNode) -> Iterator[Block]:
        stack = [(root, _ENTER)]
        while stack:
            node, step = stack.pop()
            if step is _LEAVE:
                yield from self._leave(node, node.tag or "")
            elif node.tag == "-text":
                text = node.text_content or ""
                self._text.append(text if self._verbatim else _SPACES.sub(" ", text))
            else:
                yield from self._enter(node, node.tag or "")
                stack.append((node, _LEAVE))
                stack.extend((child, _ENTER) for child in reversed(list(node.iter(include_text=True))))
        yield from self._flush()

    def _enter(self, node: LexborNode, tag: str) -> Iterator[Block]:
        self._verbatim += tag == "pre"
        if self._inside is not None:
            self._text.append(" " if tag in _BLOCK_TAGS or tag == "br" else "")
        elif tag == "br":
            self._text.append("\n")
        elif tag in _BLOCK_TAGS or _HEADING.match(tag):
            yield from self._flush()
            if _HEADING.match(tag) or (tag == "tr" and node.css_first(_LAYOUT) is None):
                self._inside = node

    def _leave(self, node: LexborNode, tag: str) -> Iterator[Block]:
        if self._inside is None:
            if tag in _BLOCK_TAGS:
                yield from self._flush()
        elif node == self._inside:
            self._inside = None
            yield from self._heading(tag) if tag != "tr" else self._row()
        elif tag in ("td", "th"):
            self._cells.append(self._take())
        self._verbatim -= tag == "pre"

    def _heading(self, tag: str) -> Iterator[Block]:
        if title := self._take().strip():
            yield heading(title, int(tag[1]))

    def _row(self) -> Iterator[Block]:
        cells, self._cells = [cell for cell in self._cells if cell.strip()], []
        if cells:
            yield record(joined_row(cells))

    def _take(self) -> str:
        text, self._text = "".join(self._text), []
        return text if self._verbatim else _LINE_EDGES.sub("\n", text)

    def _flush(self) -> Iterator[Block]:
        text = self._take()
        if text.strip():
            yield paragraph(text)
