"""Given code that suites bring along is the notebook's own."""

from __future__ import annotations

from pathlib import Path

import nbformat

from autograder.suites.given import STACK

ROOT = Path(__file__).parents[2]


def test_the_stack_is_that_of_the_notebook() -> None:
    notebook = nbformat.read(ROOT / "source" / "ps3-depth" / "depth.ipynb", as_version=4)
    cell = next(one for one in notebook.cells if one.metadata.get("nbgrader", {}).get("grade_id") == "stack")
    assert f"\nfrom torch import nn\n\n\n{cell.source.rstrip()}\n" == STACK
