"""An arena for attacks: one warm sandbox, and a notebook whose middle exercise of three attacks."""

from __future__ import annotations

import copy
import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.grading.answers import AnswerSheet
from autograder.grading.engine import TAMPERED_FLAG, Engine
from autograder.grading.graded import Graded
from autograder.grading.submission import rebuild
from autograder.grading.suite import Suite
from autograder.grading.template import trimmed
from autograder.results import ExerciseResult, Outcome
from autograder.sandbox.limits import MIB, Limits
from autograder.sandbox.process import Sandbox

from ..sandbox.descendants import only_the_zygote

ROOT = Path(__file__).parents[2]
ASSIGNMENT = "ps1-convolution"
#: In the notebook's order; the attacks stand in the middle one.
BEFORE, ATTACKED, AFTER = "dense_parameters", "output_size", "max_pool"
EXERCISES = (BEFORE, ATTACKED, AFTER)
SECRET = "the secret of a course under attack"
#: In the name of every file that an attack tries to leave behind.
MARK = "deepdrills_was_here"
LIMITS = Limits(
    cell_seconds=4,
    call_seconds=1.5,
    submission_seconds=40,
    memory=800 * MIB,
    processes=24,
    file_size=8 * MIB,
    folder_size=16 * MIB,
    reply_size=16 * MIB,
    restarts=4,
)

WRONG = "def output_size(n, k, padding=0, stride=1):\n    return -1\n"

Edit = Callable[[dict[str, Any]], None]


def marked(course: Path) -> set[Path]:
    """Files that an attack has left where it must not be able to write."""
    folders = (ROOT, course, Path.home(), Path(tempfile.gettempdir()), Path("/dev/shm"), Path("/"))
    return {path for folder in folders for path in folder.glob("*") if MARK in path.name}


class Arena:
    """Grades notebooks in which `ATTACKED` holds some code and the others are answered honestly."""

    def __init__(self, sandbox: Sandbox, suite: Suite, course: Path) -> None:
        sheet = AnswerSheet(ROOT, ASSIGNMENT)
        kept = {cell.grade_id for name in EXERCISES for cell in trimmed(sheet.template, name).cells}
        self.sheet = copy.copy(sheet)
        self.sheet.template = replace(
            sheet.template, cells=tuple(cell for cell in sheet.template.cells if cell.grade_id in kept)
        )
        self.sheet.solutions = {name: sheet.solutions[name] for name in EXERCISES}
        self.honest = self.sheet.solutions[ATTACKED]
        self.sandbox = sandbox
        self.suite = suite
        self.course = course
        self.before = marked(course)  # another measurement on this machine may have left some
        self.full = {
            cell.exercise: cell.points for cell in self.sheet.template.cells if cell.exercise and cell.points
        }
        self._engine = Engine(self.sheet.template, suite, sandbox, LIMITS, SECRET)
        self.only = sheet.only(ATTACKED)
        self._next_engine = Engine(self.only.template, suite, sandbox, LIMITS, SECRET)

    def grade(
        self,
        code: str | None,
        edit: Edit | None = None,
        files: dict[str, bytes] | None = None,
        alone: bool = False,
    ) -> Graded:
        """Grade `code` in the attacked cell, after `edit` has changed the notebook's JSON.

        `alone`: without the other exercises, for attacks that have no quarrel with them.
        """
        sheet, engine = (self.only, self._next_engine) if alone else (self.sheet, self._engine)
        notebook = sheet.notebook({ATTACKED: code})
        if edit is not None:
            edit(notebook)
        return engine.grade(rebuild(json.dumps(notebook).encode(), sheet.template, files), "mallory")

    def attack(
        self,
        code: str | None,
        edit: Edit | None = None,
        files: dict[str, bytes] | None = None,
        points: float = 0.0,
        spares: bool = True,
        alone: bool = False,
    ) -> Graded:
        """Grade an attack and assert that it gained nothing, escaped nowhere and stopped no one.

        `points`: what the answer is honestly worth; `spares`: the other exercises keep their points, unless
        it is proven, and said to the staff, that the grader's own connection was written to.
        """
        graded = self.grade(code, edit, files, alone)
        found = results(graded)
        assert graded.report.max_score == (self.full[ATTACKED] if alone else sum(self.full.values()))
        assert found[ATTACKED].max_points == self.full[ATTACKED]
        assert found[ATTACKED].points == pytest.approx(points), found[ATTACKED]
        assert graded.report.outcome is not Outcome.ERROR
        for name in () if alone else (BEFORE, AFTER):
            if spares and TAMPERED_FLAG not in graded.report.flags:
                assert found[name].points == self.full[name], found[name]
            assert found[name].points <= self.full[name]
        assert graded.report.score == pytest.approx(sum(one.points for one in graded.report.exercises))
        json.dumps(graded.to_json(), allow_nan=False)
        self.assert_unharmed(whole=not alone)
        return graded

    def assert_unharmed(self, whole: bool = True) -> None:
        """Nothing of the attack is left, and the next submission is graded (or only answers) as ever."""
        assert only_the_zygote(self.sandbox)
        if whole:
            assert self.grade(self.honest, alone=True).report.score == self.full[ATTACKED]
        else:
            session = self.sandbox.spawn()
            session.run_cell(self.honest, LIMITS.cell_seconds, ATTACKED)
            assert session.call(ATTACKED, ATTACKED, (28, 5), {"padding": 2}, LIMITS.call_seconds) == 28
            session.close()
        assert marked(self.course) <= self.before, "files of an attack are left"


def results(graded: Graded) -> dict[str, ExerciseResult]:
    """The results by exercise."""
    return {result.grade_id.removesuffix("_checks"): result for result in graded.report.exercises}


def shown(graded: Graded) -> str:
    """All that a report and a notebook say, without the student's own code."""
    data = copy.deepcopy(graded.to_json())
    for cell in data["notebook"]["cells"]:
        cell["source"] = ""
    return json.dumps(data, ensure_ascii=False)


def outputs_of(graded: Graded, grade_id: str) -> str:
    """The outputs of one cell, as JSON."""
    (cell,) = (
        cell
        for cell in graded.notebook["cells"]
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id
    )
    return json.dumps(cell["outputs"], ensure_ascii=False)


def score_shown(graded: Graded, exercise: str) -> float:
    """The score that nbgrader reads from the grade cell."""
    match = re.search(
        r'"execute_result", "data": {"text/plain": "([0-9.]+)"', outputs_of(graded, exercise + "_checks")
    )
    assert match is not None
    return float(match[1])
