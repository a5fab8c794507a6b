"""Code and printed text as HTML: highlighted with classes of our own contrast, escapes taken out."""

from __future__ import annotations

import re
from html import escape
from typing import Any, ClassVar

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from pygments.style import Style
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, String, Token

from autograder.nbgrader_bridge.rich_text import cut

#: Longer code is shown without colours: a colour takes 20 characters of the page. The longest cell of our
#: solutions has 5 000.
LONGEST_HIGHLIGHTED = 20_000
#: Longer code is cut.
LONGEST_CODE = 40_000
LONGEST_TEXT = 20_000

#: Terminal escapes (colours, cursor, titles), then every other control character.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class ReadableStyle(Style):  # type: ignore[misc]
    """Every colour has a contrast of at least 4.5 on the code's background, #f5f6f8."""

    background_color = "#f5f6f8"
    styles: ClassVar[dict[Any, str]] = {
        Token: "#1f2328",
        Comment: "italic #57606a",
        Keyword: "#8a1a4b",
        Operator.Word: "#8a1a4b",
        Name.Function: "#0a4b9c",
        Name.Class: "#0a4b9c",
        Name.Decorator: "#5a3d99",
        Name.Builtin: "#5a3d99",
        String: "#0b5d32",
        Number: "#8a3b00",
        Error: "#1f2328",
    }


_FORMATTER: HtmlFormatter[str] = HtmlFormatter(style=ReadableStyle, nowrap=True)


def code_css() -> str:
    """The style sheet that `code_html` needs."""
    return str(HtmlFormatter(style=ReadableStyle).get_style_defs("pre.code"))


def code_html(source: str, coloured: bool = True) -> str:
    """Python code as a `<pre>`; whatever it is, it is shown whole up to the cap."""
    source = _CONTROLS.sub("", source)
    if len(source) > LONGEST_HIGHLIGHTED or not coloured:
        return f'<pre class="code" tabindex="0">{escape(cut(source, LONGEST_CODE))}</pre>'
    lines = highlight(source, PythonLexer(stripnl=False, ensurenl=False), _FORMATTER)
    return f'<pre class="code" tabindex="0">{lines}</pre>'


def printed_text(text: str) -> str:
    """What a cell printed, without terminal escapes; what a carriage return overwrote is gone."""
    text = _CONTROLS.sub("", _ESCAPES.sub("", cut(text, LONGEST_TEXT)).replace("\r\n", "\n"))
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
