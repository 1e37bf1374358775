"""Words of Chinese and English text, the same for index and query.

Chinese is cut for search (a long word and its parts); identifiers such as ``E-4312`` or ``client.retry_max`` stay
whole and are also given in parts; English plurals are folded lightly. All is lower case in compatibility form.
"""

import re
import unicodedata
from collections.abc import Iterator

import rjieba

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"(?P<han>[{_HAN}]+)|(?:(?![{_HAN}])\w)+(?:[-./](?:(?![{_HAN}])\w)+)*")
_PART = re.compile(r"[-./_]+")
_MAX_TOKEN_CHARACTERS = 64

_STOP_WORDS = (
    "的 了 是 在 和 与 或 及 吗 呢 吧 啊 怎么 什么 多少 怎样 如何 哪里 哪 哪些 哪个 可以 能 不能 能否 是否 请问 请 "
    "我 你 他 她 它 我们 你们 他们 这 那 这个 那个 有 没有 要 会 应该 需要 为什么 谁 几 个 时候 什么时候 "
    "the a an of to in is are was were be been and or for on at by with from as do does did we i you he she they "
    "it its this that these those how what when where who which why can could should would may must will shall my "
    "our your me us there if not no any have has had"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())


def tokens(text: str) -> list[str]:
    """All words of a text, in order and with repetitions."""
    return list(_words(unicodedata.normalize("NFKC", text).lower()))


def query_terms(question: str) -> list[str]:
    """The distinct words that a question is about; with nothing but stop words, those."""
    words = dict.fromkeys(tokens(question))
    return [word for word in words if word not in STOP_WORDS] or list(words)


def _words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        if match["han"]:
            yield from rjieba.cut_for_search(match["han"])
        elif len(match[0]) <= _MAX_TOKEN_CHARACTERS:
            yield stem(match[0])
            parts = [part for part in _PART.split(match[0]) if part]
            if len(parts) > 1:
                yield from map(stem, parts)


def stem(word: str) -> str:
    """Fold the plural of an English word: enough to meet its singular, too little to merge different words."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word
