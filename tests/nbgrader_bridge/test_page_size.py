"""A feedback page is bounded whatever a notebook holds, says what it leaves out, and shows every panel."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode, from_dict

from autograder.batch.course import Options
from autograder.nbgrader_bridge.feedback import render
from autograder.nbgrader_bridge.feedback_page import feedback_page
from autograder.nbgrader_bridge.page_outputs import MOST_FIGURES, MOST_OUTPUTS
from autograder.nbgrader_bridge.rich_text import MOST_ELEMENTS, MOST_SHOWN

from ..grading.pictures import png
from .test_feedback import PIXEL, assert_safe
from .toy_course import ASSIGNMENT, NOTEBOOK, ToyGrader

#: What a page may have besides a student's own texts and figures: the course's cells and the frames of cells.
FRAMES = 500_000
LIMIT = 4_000_000


def page(*extra: NotebookNode, answer: str = "Because.", repairs: tuple[str, ...] = ()) -> str:
    grader = ToyGrader(answers={"ann": answer}, extra={"ann": list(extra)})
    graded: Any = grader(Path(), "ann", ASSIGNMENT, NOTEBOOK, Path(), Options()).notebook
    graded.metadata.deepdrills.report["repairs"] = list(repairs)
    names = {"student": "ann", "assignment": ASSIGNMENT, "notebook": NOTEBOOK, "score": 1, "max_score": 6}
    text = render(feedback_page(graded, names))
    assert_safe(text)
    assert text.count('<div class="panel"') == 3
    return text


# nbformat's own makers validate each cell, which takes a minute for these.


def code(source: str, *outputs: dict[str, Any]) -> NotebookNode:
    cell = {"cell_type": "code", "source": source, "outputs": list(outputs), "metadata": {}}
    made: NotebookNode = from_dict({**cell, "execution_count": None})
    return made


def text_cell(source: str, kind: str = "markdown") -> NotebookNode:
    made: NotebookNode = from_dict({"cell_type": kind, "source": source, "metadata": {}})
    return made


def printed(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def raised(traceback: str) -> dict[str, Any]:
    return {"output_type": "error", "ename": "E", "evalue": "&" * 2_000, "traceback": [traceback]}


def shown(encoded: str) -> dict[str, Any]:
    return {"output_type": "display_data", "data": {"image/png": encoded}, "metadata": {}}


def picture(size: int, width: int = 100, height: int = 100) -> dict[str, Any]:
    return shown(base64.b64encode(png(width, height) + b"x" * size).decode())


HOSTILE = {
    "links": [text_cell("[a](http://b) " * 700) for _ in range(30)],
    "typed": [text_cell("&" * 400_000) for _ in range(60)],
    "code in colours": [code("a=1;" * 4_900) for _ in range(100)],
    "code without colours": [code('"' * 400_000) for _ in range(60)],
    "four bytes a character": [text_cell("\U0001f600" * 90_000, "raw") for _ in range(60)],
    "small cells": [code(f"a{n} = 1") for n in range(2_000)],
    "small cells that print": [code(f"a{n}", *[printed("&" * 30_000)] * 80) for n in range(300)],
    "small outputs": [code(f"a{n}", *[printed("1")] * 500) for n in range(300)],
    "tracebacks": [code("a", *[raised("&" * 9_000)] * 60) for _ in range(60)],
    "formulas": [text_cell("$x$ " * 2_400) for _ in range(30)],
    "elements": [text_cell("*a* " * 2_400) for _ in range(30)],
    "figures": [code("a", *[picture(150_000)] * 50) for _ in range(10)],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_page_is_large(name: str) -> None:
    text = page(*HOSTILE[name])
    size = len(text.encode())
    assert size < MOST_SHOWN + FRAMES + (MOST_FIGURES if name == "figures" else 0) < LIMIT
    assert text.count("<") < MOST_ELEMENTS + 20_000
    if name not in ("links", "elements", "small cells"):  # those fit once they are shown as they were typed
        assert text.count("not shown") > 0


def test_all_of_it_together_is_a_page_below_the_limit() -> None:
    text = page(*HOSTILE["figures"], *HOSTILE["code in colours"], repairs=("&" * 500,) * 250)
    assert len(text.encode()) < LIMIT + 250 * 5 * 500


def test_what_does_not_fit_is_said_and_an_answer_is_said_in_its_place() -> None:
    text = page(*HOSTILE["typed"], answer="<" * 200_000)
    assert "cells of your own are not shown. What you handed in is graded whole" in text
    assert text.count("This page is full") == 2
    assert "so this cell is not shown" in text


def test_the_courses_own_cells_are_shown_whatever_comes_before_them() -> None:
    text = page(*HOSTILE["formulas"], *HOSTILE["typed"])
    assert "Add and double, with <math" in text
    assert "Return <code>a + b</code>" in text


def test_one_more_output_is_counted() -> None:
    assert "(1 more output is not shown)" in page(code("a", *[printed("1")] * (MOST_OUTPUTS + 1)))
    assert "more output" not in page(code("a", *[printed("1")] * MOST_OUTPUTS))


def test_the_outputs_of_one_cell_do_not_fill_the_page() -> None:
    text = page(code("a", *[printed("x" * 19_000)] * 60), code("b", printed("the next cell's output")))
    assert "(50 more outputs are not shown)" in text
    assert "the next cell&#x27;s output" in text


def test_figures_share_the_pixels_of_a_page() -> None:
    """Each is small as a file; a browser needs four bytes a pixel."""
    text = page(code("a", *[picture(10, 5_000, 4_000)] * 5))
    assert text.count("<img ") == 3
    assert "figure 4 is not shown" in text


def test_a_figure_that_no_browser_can_hold_is_not_shown() -> None:
    text = page(code("a", picture(10, 100_000, 100_000), shown(PIXEL)))
    assert "figure 1 is not shown" in text
    assert text.count("<img ") == 1
