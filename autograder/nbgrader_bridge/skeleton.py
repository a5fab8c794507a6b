"""The files and cells that a new exercise begins with: a small exercise that runs, to be replaced."""

from __future__ import annotations

import keyword
import re

from nbformat import NotebookNode, v4

from autograder.errors import UsageError

_ENDINGS = ("_checks", "_written", "_visible", "_statement", "_question", "_figure", "_text")
#: The cell that a notebook closes with; new exercises go before it.
END = "end"


def check_name(name: str) -> None:
    """Raise `UsageError` for a name that a student could not define, or that another cell would take."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{2,39}", name) or keyword.iskeyword(name):
        raise UsageError(
            f"'{name}': an exercise is called like a Python function, in small letters, digits and _, "
            "with 3 to 40 characters."
        )
    if name == END or name.endswith(_ENDINGS):
        raise UsageError(f"'{name}': {END} and the endings {', '.join(_ENDINGS)} name cells of other kinds.")


def check_title(title: str) -> None:
    """Raise `UsageError` for a title that can not stand in a text of Python and of TOML as it is."""
    if not title.strip() or not title.isprintable() or '"' in title or "\\" in title:
        raise UsageError(f"{title!r}: a title is one line without quotation marks and backslashes.")


def cells(name: str, title: str, points: float) -> list[NotebookNode]:
    """Statement, answer, visible checks and grade cell, with nbgrader's metadata."""
    worth = f"{points:g} point{'' if points == 1 else 's'}"
    return [
        _cell("markdown", f"{name}_statement", _STATEMENT.format(name=name, title=title, worth=worth)),
        _cell("code", name, _ANSWER.format(name=name), solution=True, locked=False),
        _cell("code", f"{name}_visible", _VISIBLE.format(name=name)),
        _cell("code", f"{name}_checks", _CHECKS.format(name=name, worth=worth), grade=True, points=points),
    ]


def files(assignment: str, name: str, title: str) -> dict[str, str]:
    """Paths inside the course repository, and what is in them."""
    return {
        f"autograder/reference/{name}.py": _REFERENCE.format(name=name, title=title),
        f"autograder/exercises/{assignment}/{name}.toml": _DATA.format(name=name, title=title),
        f"autograder/suites/{assignment}/test_{name}.py": _SUITE.format(name=name),
    }


def place(notebook: NotebookNode) -> int:
    """Where the new cells go: at the end, but before the cell that closes the notebook."""
    last = notebook.cells[-1] if notebook.cells else None
    ends = last is not None and last.metadata.get("nbgrader", {}).get("grade_id") == END
    return len(notebook.cells) - bool(ends)


def _cell(kind: str, grade_id: str, source: str, **about: object) -> NotebookNode:
    made: NotebookNode = v4.new_code_cell(source) if kind == "code" else v4.new_markdown_cell(source)
    made.id = grade_id.replace("_", "-")[:64]
    made.metadata.nbgrader = {
        "schema_version": 3,
        "grade": False,
        "grade_id": grade_id,
        "locked": True,
        "solution": False,
        "task": False,
        **about,
    }
    return made


_STATEMENT = """\
### {title} · `{name}(x)` ({worth})

Say here what `{name}` returns, with a formula and the shapes: for a number `x`,

$$y = 2 x.$$

Say what an impossible input gets.\
"""
_ANSWER = '''\
def {name}(x):
    """Twice the number x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION\
'''
_VISIBLE = """\
assert {name}(3) == 6, f"{name}(3) is 6, and yours gives {{{name}(3)}}."
print("{name}: the visible checks pass.")\
"""
_CHECKS = """\
# {name}: {worth}, from the course's own checks on other inputs.
### BEGIN HIDDEN TESTS
check("{name}")
### END HIDDEN TESTS\
"""
_REFERENCE = '''\
"""{title}: the slow, obvious way. Imports nothing of the course."""

from __future__ import annotations


def {name}(x: int) -> int:
    """What a right answer returns, with shapes, errors and the source of the formula."""
    raise NotImplementedError("write the reference in autograder/reference/{name}.py")
'''
_DATA = """\
title = "{title}"
asks = ["{name}"]

# A wrong answer that students give, and the one kind sentence that names it. `see` may name another cell
# to read again than the exercise's statement.
[[misconception]]
name = "not_doubled"
sentence = "The number comes back as it was: it has to be doubled."
code = '''
def {name}(x):
    return x
'''

# Right answers in different styles: what a student may write and must not lose points for.
[[right]]
name = "product"
code = '''
def {name}(x):
    return 2 * x
'''

[[right]]
name = "sum"
code = '''
def {name}(x):
    return x + x
'''
"""
_SUITE = '''\
"""Checks of `{name}(x)`."""

from __future__ import annotations

import numpy as np

from autograder.exercises.compare import exact
from autograder.reference import {name} as reference
from autograder.sandbox.student import Student


def test_small_numbers(student: Student, rng: np.random.Generator) -> None:
    """Each number is doubled."""
    numbers = [3, 10, int(rng.integers(11, 100))]
    expected = [reference.{name}(x) for x in numbers]
    for x, right in zip(numbers, expected, strict=True):
        exact(student.{name}(x), right)
'''
