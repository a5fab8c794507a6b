"""What the formgrader shows of a student's cells: nothing that runs as the teacher who marks them.

The formgrader's page may write grades, and nbgrader puts Markdown and HTML of students into it as
they are: scripts, `javascript:` links, formulas that link. A picture that is missing there even
takes the whole page away.
"""

from __future__ import annotations

from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbgrader import utils

from autograder.nbgrader_bridge.code_html import printed_text
from autograder.nbgrader_bridge.rich_text import PageFlow, clean_html, markdown_html, plain_html

_KEPT = frozenset(("image/png", "image/jpeg", "text/plain"))
#: In one line. nbconvert looks from each bracket to the end of its line, in the square of their number.
_BRACKETS = 300
_NOT_SHOWN = "(an output of a kind that is not shown)"


class SafeForStaff(Preprocessor):
    """Renders students' Markdown as the feedback page does, and takes out of outputs all that runs."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        flow = PageFlow(level=2)
        for cell in nb.cells:
            if cell.cell_type == "code":
                for output in cell.outputs:
                    _settle(output, flow)
            elif not utils.is_locked(cell):
                markdown = cell.cell_type == "markdown"
                html = markdown_html(cell.source, flow) if markdown else plain_html(cell.source)
                cell.cell_type, cell.source = "markdown", _as_markdown(html)
        return nb, resources


def _settle(output: NotebookNode, flow: PageFlow) -> None:
    if "data" in output:
        output.data = _safe(output.data, flow)
    elif "traceback" in output:
        output.traceback = [printed_text(line) for line in output.traceback]
    elif "text" in output:
        output.text = printed_text(output.text)


def _safe(data: dict[str, Any], flow: PageFlow) -> NotebookNode:
    kept = {kind: value for kind, value in data.items() if kind in _KEPT}
    html = clean_html(str(data["text/html"]), flow) if "text/html" in data else None
    for kind in ("text/markdown", "text/latex"):
        if html is None and kind in data:
            html = markdown_html(str(data[kind]), flow)
    if html is not None:
        kept["text/html"] = _aside(html)
    return NotebookNode(kept or {"text/plain": _NOT_SHOWN})


def _aside(html: str) -> str:
    """HTML in which MathJax looks for no formula: ours are MathML already."""
    return f'<div class="tex2jax_ignore mathjax_ignore">{html}</div>'


def _as_markdown(html: str) -> str:
    """HTML as Markdown without a blank line, which a Markdown renderer passes through unread."""
    line = _aside(html).replace("\n", "&#10;").replace("$", "&#36;").replace("\\", "&#92;")
    pieces = line.split("[")
    rows = [pieces[place : place + _BRACKETS] for place in range(0, len(pieces), _BRACKETS)]
    return "[\n".join("[".join(row) for row in rows)
