"""Students' Markdown and HTML as HTML that runs nothing, loads nothing and keeps headings in order."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import bleach
import mistune

from autograder.nbgrader_bridge.balanced import TAGS, balanced
from autograder.nbgrader_bridge.mathml import mathml

#: Longer texts are shown as they were typed: a parser's time is not bounded by a promise.
LONGEST_MARKDOWN = 10_000
LONGEST_HTML = 60_000
#: Characters of a student's on a page that are parsed as Markdown in all, at 40 s a megabyte for the worst
#: that was found, and as code. All written answers of our solutions together have 3 000, all code 12 000.
MOST_PARSED, MOST_COLOURED = 60_000, 100_000
#: Bytes and elements that a student's texts may come to on a page. Those of our longest solutions come to
#: 56 kB and 3 500 elements.
MOST_SHOWN, MOST_ELEMENTS = 800_000, 30_000

_PROTOCOLS = frozenset(("http", "https", "mailto"))
_LINK = re.compile(r"(?:https?://|mailto:)\S+", re.IGNORECASE)
_SPAN = re.compile(r"[1-9][0-9]?")
#: A formula's place in the text while it is parsed and cleaned; the marks are taken out of the text first.
_OPEN, _CLOSE = "\ue000", "\ue001"
_PLACE = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")
_HEADING = re.compile(r"<(/?)h([1-6])>")


class PageFlow:
    """What the texts of one page share: the level of the last heading, how much of a student's may be
    parsed, and how much of it shown.

    No level is skipped whatever a student's text does, and a notebook of many long cells takes
    no longer than a few and makes no larger page.
    """

    def __init__(
        self,
        level: int = 2,
        remaining: int = MOST_PARSED,
        room: int = MOST_SHOWN,
        elements: int = MOST_ELEMENTS,
    ) -> None:
        self.level = level
        self.remaining = remaining
        self.room = room
        self.elements = elements
        self.colours = MOST_COLOURED

    def heading(self, asked: int) -> int:
        """The level that a heading gets which asks for `asked`: at least 3, at most one deeper."""
        self.level = max(3, min(asked, self.level + 1, 6))
        return self.level

    def takes(self, text: str, longest: int) -> bool:
        """Whether a text may be parsed; if so it is counted."""
        if len(text) > min(longest, self.remaining):
            return False
        self.remaining -= len(text)
        return True

    def colours_fit(self, code: str) -> bool:
        """Whether code may be parsed to be coloured; if so it is counted."""
        if len(code) > self.colours:
            return False
        self.colours -= len(code)
        return True

    def fits(self, html: str) -> bool:
        """Whether there is room for an element on the page; if so it is counted."""
        size, elements = len(html.encode("utf-8", "replace")), html.count("<")
        if size > self.room or elements > self.elements:
            return False
        self.room -= size
        self.elements -= elements
        return True


def markdown_html(text: str, flow: PageFlow | None = None, given: bool = False) -> str:
    """A Markdown cell as HTML, its formulas as MathML. A text too long or too deep stays as typed.

    `given`: a text of the course's or a teacher's, which does not count as a student's.
    """
    flow = flow or PageFlow()
    if not given and not flow.takes(text, LONGEST_MARKDOWN):
        return plain_html(text)
    text = text.replace(_OPEN, "").replace(_CLOSE, "")
    renderer = _Renderer()
    try:
        rendered = mistune.create_markdown(
            renderer=renderer, plugins=["table", "strikethrough", "math"], escape=False
        )(text)
        cleaned = _clean(str(rendered))
    except (RecursionError, ValueError, AttributeError, IndexError, KeyError, TypeError):
        return plain_html(text)
    cleaned = _ordered(cleaned, flow)
    return _PLACE.sub(lambda place: renderer.formula(int(place[1])), cleaned)


def clean_html(markup: str, flow: PageFlow | None = None) -> str | None:
    """An HTML output without anything that runs, loads or lays out; None when it is too long."""
    flow = flow or PageFlow()
    if not flow.takes(markup, LONGEST_HTML):
        return None
    try:
        cleaned = _clean(markup)
    except (RecursionError, ValueError, AttributeError, IndexError, KeyError, TypeError):
        return None
    return _ordered(cleaned, flow)


def plain_html(text: str, most: int = 100_000) -> str:
    """A text as it was typed."""
    return f'<pre class="plain">{escape(cut(text, most))}</pre>'


def cut(text: str, most: int) -> str:
    """The first `most` characters, saying so when there are more."""
    return text if len(text) <= most else f"{text[:most]}\n... ({len(text) - most} more characters)"


class _Renderer(mistune.HTMLRenderer):
    """mistune's renderer, with formulas set aside and pictures named but never loaded."""

    def __init__(self) -> None:
        super().__init__(escape=False)
        self.formulas: list[tuple[str, bool]] = []

    def formula(self, place: int) -> str:
        return mathml(*self.formulas[place]) if place < len(self.formulas) else ""

    def inline_math(self, text: str) -> str:
        return self._aside(text, display=False)

    def block_math(self, text: str) -> str:
        return self._aside(text, display=True)

    def image(self, text: str, url: str, title: str | None = None) -> str:
        return f"[image: {escape(text)}]"

    def _aside(self, text: str, display: bool) -> str:
        self.formulas.append((text.strip(), display))
        return f"{_OPEN}{len(self.formulas) - 1}{_CLOSE}"


def _clean(markup: str) -> str:
    cleaned = bleach.clean(
        balanced(markup),
        tags=TAGS,
        attributes=_allowed,
        protocols=_PROTOCOLS,
        strip=True,
        strip_comments=True,
    )
    return str(cleaned).replace("<a href=", '<a rel="noopener noreferrer nofollow" href=')


def _allowed(tag: str, name: str, value: Any) -> bool:
    text = str(value)
    if _OPEN in text or _CLOSE in text:
        return False
    if (tag, name) == ("a", "href"):
        return bool(_LINK.fullmatch(text))
    return tag in ("td", "th") and name in ("colspan", "rowspan") and bool(_SPAN.fullmatch(text))


def _ordered(cleaned: str, flow: PageFlow) -> str:
    """Move headings below the page's own. The text is cleaned, so a heading has no attribute."""
    open_levels: list[int] = []

    def level(match: re.Match[str]) -> str:
        if match[1]:
            return f"</h{open_levels.pop() if open_levels else flow.level}>"
        open_levels.append(flow.heading(int(match[2]) + 2))
        return f"<h{open_levels[-1]}>"

    return _HEADING.sub(level, cleaned)
