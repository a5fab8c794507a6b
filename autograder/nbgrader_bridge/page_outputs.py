"""A cell's outputs as HTML for the feedback page: text, pictures from the notebook, cleaned HTML."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from html import escape
from typing import Any

from nbformat import NotebookNode

from autograder.grading.picture_size import is_reasonable, picture_size
from autograder.nbgrader_bridge.code_html import printed_text
from autograder.nbgrader_bridge.rich_text import PageFlow, clean_html, markdown_html

#: Bytes of figures in one page, as they stand in it; those of our longest solutions have 1.6 million.
MOST_FIGURES = 2_500_000
#: Pixels of all figures in one page, each four bytes in a browser; those of our solutions have 3.6 million.
MOST_PIXELS = 60_000_000
#: Outputs of one cell that are shown, and the bytes of their text.
MOST_OUTPUTS, MOST_OF_A_CELL = 60, 200_000

_MAGIC = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}


@dataclass
class Figures:
    """The figures of a page so far: their number names them, their size is bounded."""

    count: int = 0
    size: int = 0
    pixels: int = 0

    def takes(self, size: int, pixels: int) -> bool:
        """Whether the page has room for one more; if so it is counted."""
        if self.size + size > MOST_FIGURES or self.pixels + pixels > MOST_PIXELS:
            return False
        self.size += size
        self.pixels += pixels
        return True


def shown_outputs(cell: NotebookNode, title: str, flow: PageFlow, figures: Figures) -> list[str]:
    """The outputs of a code cell, in order; each is a whole HTML element."""
    shown: list[str] = []
    outputs = cell.get("outputs", [])
    room = MOST_OF_A_CELL
    number = 0
    for number, output in enumerate(outputs[:MOST_OUTPUTS], 1):
        one = _output(output, title, flow, figures)
        text = "" if one.startswith("<figure>") else one
        room -= len(text.encode("utf-8", "replace"))
        if room < 0 or not flow.fits(text):
            number -= 1
            break
        shown.append(one)
    if len(outputs) > number:
        more = len(outputs) - number
        said = "1 more output is" if more == 1 else f"{more} more outputs are"
        shown.append(f'<p class="note">({said} not shown)</p>')
    return [one for one in shown if one]


def _output(output: NotebookNode, title: str, flow: PageFlow, figures: Figures) -> str:
    if output.output_type == "stream":
        return _text("Warnings and messages" if output.name == "stderr" else "Printed", output.text)
    if output.output_type == "error":
        return _error(output)
    return _data(output.get("data", {}), title, flow, figures)


def _data(data: dict[str, Any], title: str, flow: PageFlow, figures: Figures) -> str:
    for kind in _MAGIC:
        if kind in data:
            return _picture(kind, str(data[kind]), title, figures)
    if "text/html" in data:
        cleaned = clean_html(str(data["text/html"]), flow)
        if cleaned is not None and cleaned.strip():
            return f'<div class="rich" tabindex="0">{cleaned}</div>'
    for kind in ("text/markdown", "text/latex"):
        if kind in data:
            return f'<div class="rich">{markdown_html(str(data[kind]), flow)}</div>'
    return _text("Result", str(data["text/plain"])) if "text/plain" in data else ""


def _error(output: NotebookNode) -> str:
    """What was raised, and behind a fold where: the last line of a traceback says most."""
    said = _text("Error", f"{output.ename}: {output.evalue}".strip().removesuffix(":"))
    where = printed_text("\n".join(output.get("traceback", [])))
    if not where.strip():
        return said
    place = f'<pre class="printed" tabindex="0">{escape(where)}</pre>'
    return f"{said}<details><summary>Where it was raised</summary>{place}</details>"


def _text(label: str, text: str) -> str:
    printed = printed_text(text)
    if not printed.strip():
        return ""
    return f'<p class="kind">{label}</p><pre class="printed" tabindex="0">{escape(printed)}</pre>'


def _picture(kind: str, encoded: str, title: str, figures: Figures) -> str:
    """A picture that is in the notebook itself; nothing is read from a disk or a network."""
    figures.count += 1
    encoded = "".join(encoded.split())
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    sides = picture_size(raw) if raw.startswith(_MAGIC[kind]) else None
    if sides is None:
        return f'<p class="note">(figure {figures.count} can not be shown)</p>'
    if not is_reasonable(sides) or not figures.takes(len(encoded), sides[0] * sides[1]):
        return (
            f'<p class="note">(figure {figures.count} is not shown: the figures of this page are too large; '
            "your own notebook has it)</p>"
        )
    place = f", drawn in {title}" if title else ", drawn by this cell"
    alt = escape(f"Figure {figures.count}{place}")
    return f'<figure><img alt="{alt}" src="data:{kind};base64,{encoded}"></figure>'
