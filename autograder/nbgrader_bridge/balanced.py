"""Markup whose elements end where they should, made in one pass: a tree builder's time is linear then.

HTML's rules open a bold element anew in each paragraph that it was not closed before, so that 20 000
characters become 2 GB of tree. Here every element is closed by whoever would end it. This is no
sanitiser: what comes out is still cleaned.
"""

from __future__ import annotations

import re

TAGS_TEXT = """
    p br hr h1 h2 h3 h4 h5 h6 strong em b i u s del ins sub sup small mark kbd var samp code pre blockquote
    ul ol li dl dt dd a table caption thead tbody tfoot tr th td div span details summary
"""
#: The elements that a page may show.
TAGS = frozenset(TAGS_TEXT.split())
#: Elements in each other; lists of lists in a quote are some ten deep.
DEEPEST = 20

_TOKEN = re.compile(r"<(?:(/?)([A-Za-z][^\s<>/]{0,50})([^<>]{0,2000})>|(!--)|[!?][^<>]{0,2000}>)")
_ATTRIBUTE = re.compile(
    r"(?i)(?<![^\s\"'])(href|colspan|rowspan)\s{0,9}=\s{0,9}(\"[^\"]*\"|'[^']*'|[^\s\"']+)"
)
_VOID = frozenset(("br", "hr"))
#: These end a paragraph that is still open.
_BLOCKS = frozenset(
    ("p", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "ul", "ol", "li", "dl", "dt", "dd")
) | {"table", "div", "details", "summary"}
#: What each ends of its own kind, up to the element that holds them both.
_SIBLINGS = {
    "li": (("li",), ("ul", "ol")),
    "dt": (("dt", "dd"), ("dl",)),
    "dd": (("dt", "dd"), ("dl",)),
    "a": (("a",), ()),
    "table": (("table",), ("td", "th", "caption")),
}
#: The parts of a table, and where each may stand.
_PARTS = {
    "caption": ("table",),
    "thead": ("table",),
    "tbody": ("table",),
    "tfoot": ("table",),
    "tr": ("thead", "tbody", "tfoot", "table"),
    "td": ("tr",),
    "th": ("tr",),
}


#: Where what is not shown ends, by how it begins.
_ENDS = {
    "!--": re.compile("-->"),
    "script": re.compile(r"</script\s{0,99}>", re.IGNORECASE),
    "style": re.compile(r"</style\s{0,99}>", re.IGNORECASE),
}


def balanced(markup: str) -> str:
    """The markup with the elements of `TAGS` alone, each closed, at most `DEEPEST` in each other.

    Of attributes only those stay that a cleaned page may keep; comments, scripts and styles go.
    """
    made = _Balance()
    ends = dict(_ENDS)
    at = 0
    while (token := _TOKEN.search(markup, at)) is not None:
        made.text(markup[at : token.start()])
        at = token.end()
        name = "!--" if token[4] else (token[2] or "").lower()
        if token[4] and name not in ends:
            made.text(token[0])
        elif name in ends and not token[1]:
            end = ends[name].search(markup, at)
            if end is None:
                del ends[name]  # there is none after the next one either
                made.text(token[0] if token[4] else "")
            at = at if end is None else end.end()
        elif name in TAGS and token[1]:
            made.end(name)
        elif name in TAGS:
            made.start(name, token[3])
    made.text(markup[at:])
    return made.whole()


class _Balance:
    def __init__(self) -> None:
        self._made: list[str] = []
        self._open: list[str] = []

    def text(self, text: str) -> None:
        self._made.append(text.replace("<", "&lt;"))

    def start(self, name: str, attributes: str) -> None:
        if name in _PARTS:
            if "table" not in self._open:
                return
            while self._open[-1] not in _PARTS[name] and self._open[-1] != "table":
                self._close()
        if name in _SIBLINGS:
            self._end_sibling(*_SIBLINGS[name])
        if name in _BLOCKS:
            self.end("p")
        if name in _VOID:
            self._made.append(f"<{name}>")
        elif len(self._open) < DEEPEST:
            self._open.append(name)
            kept = "".join(
                f' {key.lower()}="{_value(value)}"' for key, value in _ATTRIBUTE.findall(attributes)
            )
            self._made.append(f"<{name}{kept}>")

    def end(self, name: str) -> None:
        """Close the innermost element of this name, and what is open in it; nothing if there is none."""
        if name in self._open:
            while self._close() != name:
                pass

    def whole(self) -> str:
        while self._open:
            self._close()
        return "".join(self._made)

    def _end_sibling(self, names: tuple[str, ...], holders: tuple[str, ...]) -> None:
        for name in reversed(self._open):
            if name in holders:
                return
            if name in names:
                self.end(name)
                return

    def _close(self) -> str:
        name = self._open.pop()
        self._made.append(f"</{name}>")
        return name


def _value(quoted: str) -> str:
    bare = quoted[1:-1] if quoted[0] in "\"'" else quoted
    return bare.replace('"', "&quot;")
