"""Students' Markdown and HTML as HTML that runs nothing, loads nothing and keeps headings in order."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import bleach
import mistune

from autograder.nbgrader_bridge.mathml import mathml

#: Longer texts are shown as they were typed: a parser's time is not bounded by a promise.
LONGEST_MARKDOWN = 20_000
LONGEST_HTML = 60_000
#: Characters of a page that are parsed in all.
MOST_PARSED = 250_000

_TAGS_TEXT = """
    p br hr h1 h2 h3 h4 h5 h6 strong em b i u s del ins sub sup small mark kbd var samp code pre blockquote
    ul ol li dl dt dd a table caption thead tbody tfoot tr th td div span details summary
"""
_TAGS = frozenset(_TAGS_TEXT.split())
_PROTOCOLS = frozenset(("http", "https", "mailto"))
_LINK = re.compile(r"(?:https?://|mailto:)\S+", re.IGNORECASE)
_SPAN = re.compile(r"[1-9][0-9]?")
#: A formula's place in the text while it is parsed and cleaned; the marks are taken out of the text first.
_OPEN, _CLOSE = "\ue000", "\ue001"
_PLACE = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")
_UNSEEN = re.compile(r"(?is)<(script|style)\b[^>]*>.*?</\1\s*>")
_HEADING = re.compile(r"<(/?)h([1-6])>")


class PageFlow:
    """What the texts of one page share: the level of the last heading, and how much may be parsed.

    No level is skipped whatever a student's text does, and a notebook of many long cells takes
    no longer than a few.
    """

    def __init__(self, level: int = 2, remaining: int = MOST_PARSED) -> None:
        self.level = level
        self.remaining = remaining

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


def markdown_html(text: str, flow: PageFlow | None = None) -> str:
    """A Markdown cell as HTML, its formulas as MathML. A text too long or too deep stays as typed."""
    flow = flow or PageFlow()
    if not flow.takes(text, LONGEST_MARKDOWN):
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
        cleaned = _clean(_UNSEEN.sub("", markup))
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
        markup, tags=_TAGS, attributes=_allowed, protocols=_PROTOCOLS, strip=True, strip_comments=True
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
