"""Each way in which a release could give something away, done to a good one by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode, v4

from autograder.nbgrader_bridge.clean_run import run_cells
from autograder.nbgrader_bridge.release_audit import audit_release

from .toy_course import ASSIGNMENT, MARK_SCHEME, MODEL_ANSWER, NOTEBOOK, SOLUTION


def test_a_good_release(released: Path) -> None:
    assert audit_release(released, ASSIGNMENT) == []


def _cell(notebook: NotebookNode, grade_id: str) -> NotebookNode:
    named: dict[str, NotebookNode] = {
        one.metadata.get("nbgrader", {}).get("grade_id", ""): one for one in notebook.cells
    }
    return named[grade_id]


def _appends(grade_id: str, text: str) -> Callable[[NotebookNode], None]:
    def spoil(notebook: NotebookNode) -> None:
        _cell(notebook, grade_id).source += f"\n{text}"

    return spoil


def _drops(grade_id: str) -> Callable[[NotebookNode], None]:
    return lambda notebook: notebook.cells.remove(_cell(notebook, grade_id))


def _sets(grade_id: str, key: str, value: object) -> Callable[[NotebookNode], None]:
    return lambda notebook: _cell(notebook, grade_id).metadata.nbgrader.update({key: value})


def _adds(cell: NotebookNode) -> Callable[[NotebookNode], None]:
    return lambda notebook: notebook.cells.append(cell)


SPOILT: dict[str, tuple[Callable[[NotebookNode], None], str]] = {
    "a line of a solution": (_appends("title", SOLUTION.split("\n")[0].strip()), "hidden in add"),
    "a solution of one line": (_appends("double", "doubled = math.prod([2, 21])"), "hidden in double"),
    "a solution, indented otherwise": (_appends("title", "total_of_both  =  a + b"), "hidden in add"),
    "a hidden check": (_appends("add_checks", 'check("add")'), "calls the hidden check"),
    "a mark": (_appends("add", "### BEGIN SOLUTION"), "mark"),
    "a marking scheme": (_appends("why_question", MARK_SCHEME), "hidden in why_written"),
    "a model answer": (_appends("why_question", MODEL_ANSWER), "hidden in why_written"),
    "an import": (_adds(v4.new_code_cell("from autograder.reference import x")), "imports autograder"),
    "an import inside a function": (
        _adds(v4.new_code_cell("def f():\n    import autograder.suites as s")),
        "imports autograder",
    ),
    "an import by name": (_adds(v4.new_code_cell("__import__('autograder')")), "imports autograder"),
    "an import by a magic": (_adds(v4.new_code_cell("%run -m autograder.cli")), "imports autograder"),
    "an import by a shell": (_adds(v4.new_code_cell("!python -m autograder")), "imports autograder"),
    "an author's cell": (
        _adds(v4.new_code_cell("pass", metadata={"tags": ["author-only"]})),
        "author's cell",
    ),
    "an output": (
        _adds(v4.new_code_cell("1", outputs=[v4.new_output("stream", name="stdout", text="1")])),
        "outputs",
    ),
    "a grade cell gone": (_drops("double_checks"), "double_checks of the source is missing"),
    "other points": (_sets("double_checks", "points", 2), "another 'points'"),
    "an unlocked check": (_sets("add_checks", "locked", False), "another 'locked'"),
    "a filled answer": (_appends("why_written", "Think of commutativity."), "empty form"),
    "a stub that does not raise": (_appends("add", "    return 0"), "empty form"),
}


@pytest.mark.parametrize("name", SPOILT)
def test_what_gives_something_away(released: Path, name: str) -> None:
    spoil, found = SPOILT[name]
    path = released / "release" / ASSIGNMENT / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    spoil(notebook)
    nbformat.write(notebook, path)
    problems = audit_release(released, ASSIGNMENT, run=False)
    assert any(found in problem for problem in problems), problems


def test_files_beside_the_notebook(released: Path) -> None:
    folder = released / "release" / ASSIGNMENT
    (folder / "data.csv").write_text("1,2")
    assert audit_release(released, ASSIGNMENT, run=False) == []
    (folder / "helper.py").write_text("from autograder.reference import convolution\n")
    (folder / "notes.md").write_text("### BEGIN SOLUTION")
    (folder / "old").mkdir()
    (folder / "old" / "draft.ipynb").write_text("{}")
    (folder / "link").symlink_to(released / "gradebook.db")
    assert len(audit_release(released, ASSIGNMENT, run=False)) == 4


def test_a_release_that_was_not_made(course: Path) -> None:
    assert "deepdrills release" in audit_release(course, ASSIGNMENT)[0]


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("import math", "import a_package_that_is_not_installed", "in cell environment"),
        ('print(\\"fit\\"', 'import os; os._exit(0); print(\\"fit\\"', "outside the cells"),
    ],
)
def test_a_notebook_that_does_not_start(released: Path, old: str, new: str, found: str) -> None:
    for step in ("source", "release"):
        path = released / step / ASSIGNMENT / f"{NOTEBOOK}.ipynb"
        path.write_text(path.read_text().replace(old, new))
    (problem,) = audit_release(released, ASSIGNMENT)
    assert found in problem


def test_the_clean_interpreter_has_no_grader_and_no_course() -> None:
    ended = run_cells(
        [
            "import os, sys\nassert os.listdir() == []",
            "assert not any('autograder' in os.listdir(path) for path in sys.path if os.path.isdir(path))",
            "%matplotlib inline\nimport numpy",
            "import autograder.suites",
        ]
    )
    assert (ended.cell, ended.kind) == (3, "ModuleNotFoundError")
