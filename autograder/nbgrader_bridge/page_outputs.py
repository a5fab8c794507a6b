"""A cell's outputs as HTML for the feedback page: text, pictures from the notebook, cleaned HTML."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from html import escape
from typing import Any

from nbformat import NotebookNode

from autograder.nbgrader_bridge.code_html import printed_text
from autograder.nbgrader_bridge.rich_text import PageFlow, clean_html, markdown_html

#: Bytes of figures in one page, as they stand in it.
MOST_FIGURES = 12 << 20
#: Outputs of one cell that are shown.
MOST_OUTPUTS = 60

_MAGIC = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}


@dataclass
class Figures:
    """The figures of a page so far: their number names them, their size is bounded."""

    count: int = 0
    size: int = 0


def shown_outputs(cell: NotebookNode, title: str, flow: PageFlow, figures: Figures) -> list[str]:
    """The outputs of a code cell, in order; each is a whole HTML element."""
    shown: list[str] = []
    outputs = cell.get("outputs", [])
    for output in outputs[:MOST_OUTPUTS]:
        if output.output_type == "stream":
            label = "Warnings and messages" if output.name == "stderr" else "Printed"
            shown.append(_text(label, output.text))
        elif output.output_type == "error":
            shown.append(_error(output))
        else:
            shown.append(_data(output.get("data", {}), title, flow, figures))
    if len(outputs) > MOST_OUTPUTS:
        shown.append(f'<p class="note">({len(outputs) - MOST_OUTPUTS} more outputs are not shown)</p>')
    return [one for one in shown if one]


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
    figures.size += len(encoded)
    if figures.size > MOST_FIGURES:
        return f'<p class="note">(figure {figures.count} is not shown: the figures are too large)</p>'
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if not raw.startswith(_MAGIC[kind]):
        return f'<p class="note">(figure {figures.count} can not be shown)</p>'
    place = f", drawn in {title}" if title else ", drawn by this cell"
    alt = escape(f"Figure {figures.count}{place}")
    return f'<figure><img alt="{alt}" src="data:{kind};base64,{encoded}"></figure>'
