"""A released notebook small enough to read, and the ways in which students spoil it."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

from autograder.grading.template import Role, Template, TemplateCell

Notebook = dict[str, Any]

STUB = 'def add(a, b):\n    """The sum of a and b."""\n    # YOUR CODE HERE\n    raise NotImplementedError()'
PAIR_STUB = "# first = ..., second = ...\n# YOUR CODE HERE\nraise NotImplementedError()"
ADD = 'def add(a, b):\n    """The sum of a and b."""\n    return a + b'
PAIR = "first = 1\nsecond = 2"
WHY = "Because the sum does not depend on the order."
ANSWERS = {"add": ADD, "pair": PAIR, "why_written": WHY}


def _cell(
    grade_id: str, role: Role, cell_type: str, source: str, points: float = 0.0, marking: str | None = None
) -> TemplateCell:
    grade = role in (Role.CHECKS, Role.WRITTEN)
    solution = role in (Role.SOLUTION, Role.WRITTEN)
    about: dict[str, Any] = {
        "schema_version": 3,
        "grade_id": grade_id,
        "grade": grade,
        "solution": solution,
        "locked": not solution,
        "task": False,
    }
    if grade:
        about["points"] = points
    node: dict[str, Any] = {
        "id": grade_id.replace("_", "-"),
        "cell_type": cell_type,
        "metadata": {"nbgrader": about},
        "source": source,
    }
    if cell_type == "code":
        node |= {"outputs": [], "execution_count": None}
    return TemplateCell(grade_id, role, cell_type, source, points, node, marking)


TEMPLATE = Template(
    assignment="ps0-toy",
    notebook="toy",
    cells=(
        _cell("title", Role.LOCKED, "markdown", "# Toy"),
        _cell("environment", Role.LOCKED, "code", "import math"),
        _cell("add_statement", Role.LOCKED, "markdown", "## Add"),
        _cell("add", Role.SOLUTION, "code", STUB),
        _cell("add_visible", Role.LOCKED, "code", "assert add(1, 2) == 3"),
        _cell("add_checks", Role.CHECKS, "code", "# add: 2 points, from other inputs.", 2),
        _cell("why_question", Role.LOCKED, "markdown", "Why may you swap a and b?"),
        _cell(
            "why_written", Role.WRITTEN, "markdown", "YOUR ANSWER HERE", 1, "One point for the word order."
        ),
        _cell("pair_statement", Role.LOCKED, "markdown", "## A pair"),
        _cell("pair", Role.SOLUTION, "code", PAIR_STUB),
        _cell("pair_visible", Role.LOCKED, "code", "assert first < second"),
        _cell("pair_checks", Role.CHECKS, "code", "# pair: 3 points.", 3),
    ),
    asks={"add": ("add",), "pair": ("first", "second")},
    metadata={"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
)
IDS = [cell.grade_id for cell in TEMPLATE.cells]


def notebook(answers: Mapping[str, str] | None = None) -> Notebook:
    """The released notebook with some answers in place; untouched without any."""
    cells = []
    for released in TEMPLATE.cells:
        cell = copy.deepcopy(released.node)
        cell["source"] = (answers or {}).get(released.grade_id, released.source)
        cells.append(cell)
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def raw(data: Any) -> bytes:
    return json.dumps(data).encode()


def extra(source: str, cell_type: str = "code") -> dict[str, Any]:
    """A cell of the student's own."""
    return {"cell_type": cell_type, "metadata": {}, "source": source}


def place(data: Notebook, grade_id: str) -> int:
    """Where a cell of the course stands."""
    return next(
        number
        for number, cell in enumerate(data["cells"])
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id
    )


def find(data: Notebook, grade_id: str) -> dict[str, Any]:
    found: dict[str, Any] = data["cells"][place(data, grade_id)]
    return found
