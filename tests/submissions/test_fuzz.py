"""Whatever is done to a released notebook: no error of ours, no cell of the course lost, no point gained.

2 000 examples and more here, always the same; `make fuzz` draws twenty times as many, new each time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, cast

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.exercises.compare import exact
from autograder.grading.answers import AnswerSheet
from autograder.grading.autograded import graded_notebook
from autograder.grading.cell_run import CellRun
from autograder.grading.engine import Engine
from autograder.grading.submission import Submission, rebuild
from autograder.grading.suite import Check, Suite
from autograder.grading.template import Role, Template
from autograder.nbgrader_bridge.grade import score_problems
from autograder.results import CheckResult, ExerciseResult, GradeReport, Outcome
from autograder.sandbox.limits import Limits

from ..grading import toy
from ..grading.fakes import FakeSandbox
from .arena import ATTACKED, EXERCISES, LIMITS, SECRET, Arena, results
from .mutations import Mutation, damage, damaged, mutate, mutations
from .odd.case import FULL, sheet

ROOT = Path(__file__).parents[2]
RELEASED = sorted(path.parent.name for path in ROOT.glob("release/*/*.ipynb"))
TIMES = int(os.environ.get("DEEPDRILLS_FUZZ", "1"))


def examples(count: int) -> settings:
    return settings(
        max_examples=count * TIMES,
        deadline=None,
        derandomize=TIMES == 1,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@cache
def whole(assignment: str) -> AnswerSheet:
    return AnswerSheet(ROOT, assignment)


def check(submission: Submission, template: Template, texts: str) -> None:
    """What holds of every rebuilt submission."""
    course = [cell for cell in submission.cells if cell.template is not None]
    assert [cell.template for cell in course] == list(template.cells)
    for cell in course:
        assert cell.template is not None
        assert cell.cell_type == cell.template.cell_type
        if cell.template.role in (Role.LOCKED, Role.CHECKS):
            assert cell.source == cell.template.source
            assert cell.run
    taken = [name for cell in submission.cells for name in cell.snapshots]
    graded = [cell.exercise for cell in template.cells if cell.role is Role.CHECKS]
    assert sorted(taken) == sorted(name for name in graded if name)
    assert submission.attempted <= set(taken)
    assert len(set(submission.repairs)) == len(submission.repairs), "a repair was said twice"
    for repair in submission.repairs:
        assert repair.endswith(".")
        assert repair.isprintable()
    assert len(json.dumps(submission.repairs)) < 100_000
    for cell in submission.cells:  # nothing is graded that was not handed in
        if cell.template is None or cell.template.role in (Role.SOLUTION, Role.WRITTEN):
            assert cell.source in texts or cell.source == (cell.template.source if cell.template else None)


def blank_report(template: Template) -> GradeReport:
    def result(name: str, points: float) -> ExerciseResult:
        one = CheckResult("only", Outcome.FAILED, 0.0, points, "A check.")
        return ExerciseResult(name, 0.0, points, Outcome.FAILED, (one,))

    exercises = tuple(
        result(cell.grade_id, cell.points) for cell in template.cells if cell.role is Role.CHECKS
    )
    most = sum(one.max_points for one in exercises)
    return GradeReport("ada", template.assignment, template.notebook, 0.0, most, 0.0, (), (), 0.0, exercises)


@examples(1400)
@given(st.sampled_from(RELEASED), st.integers(0, 2**16), mutations, damage)
def test_released_notebooks_are_rebuilt(
    assignment: str, answered: int, drawn: list[Mutation], spoilt: tuple[str, int, int] | None
) -> None:
    paper = whole(assignment)
    names = list(paper.solutions)
    chosen = {name: paper.solutions[name] for place, name in enumerate(names) if answered >> place & 1}
    data = paper.notebook(chosen, fill=False)
    mutate(data["cells"], drawn)
    raw = damaged(data, spoilt)
    submission = rebuild(raw, paper.template)
    if spoilt is None:
        texts = "\0".join(_text(cell.get("source")) for cell in data["cells"] if isinstance(cell, dict))
        check(submission, paper.template, texts)
    report = blank_report(paper.template)
    notebook = graded_notebook(
        submission, paper.template, [CellRun() for _ in submission.cells], report, 1 << 20
    )
    made = nbformat.from_dict(json.loads(json.dumps(notebook, allow_nan=False)))
    nbformat.validate(made)
    assert score_problems(made, report) == []


def _text(source: Any) -> str:
    """A cell's text as it is read."""
    text = "".join(line for line in source if isinstance(line, str)) if isinstance(source, list) else source
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else ""


# ---- points, in a sandbox that is a dictionary ----


def _add(student: Any) -> None:
    exact(student.call("add", (20, 3), {}), 23)


def _pair(student: Any) -> None:
    exact(student.value("first"), 1)
    exact(student.value("second"), 2)


CHECKS: dict[str, Callable[[Any], None]] = {"add": _add, "pair": _pair}


class _Suite:
    def checks(self, exercise: str) -> list[Check]:
        return [Check(exercise, "only", "A check.", 1.0, None)]

    def run(self, check: Check, channel: Any, secret: str, experiments: Any = None) -> BaseException | None:
        try:
            CHECKS[check.exercise](channel)
        except BaseException as error:
            return error
        return None


@examples(600)
@given(st.sampled_from([(), ("add",), ("pair",), ("add", "pair")]), mutations, damage)
def test_no_mutation_earns_a_point(
    right: tuple[str, ...], drawn: list[Mutation], spoilt: tuple[str, int, int] | None
) -> None:
    """An exercise that was not answered rightly earns nothing, whatever becomes of the notebook."""
    wrong = {"add": "def add(a, b):\n    return a * b - 7", "pair": "first = 2\nsecond = 1"}
    data = toy.notebook({**wrong, **{name: toy.ANSWERS[name] for name in right}})
    mutate(data["cells"], drawn)
    # No single byte makes one of these a right answer.
    engine = Engine(
        toy.TEMPLATE, cast(Suite, _Suite()), FakeSandbox().as_sandbox(), Limits(), "s", exercises={}
    )
    graded = engine.grade(rebuild(damaged(data, spoilt), toy.TEMPLATE), "ada")
    assert graded.report.outcome is not Outcome.ERROR
    for result in graded.report.exercises:
        name = result.grade_id.removesuffix("_checks")
        assert result.points <= (result.max_points if name in right else 0.0), graded.notebook["cells"]
    made = nbformat.from_dict(json.loads(json.dumps(graded.notebook, allow_nan=False)))
    nbformat.validate(made)
    assert score_problems(made, graded.report) == []


# ---- a few, in the real one ----


@pytest.fixture(scope="module")
def engine(arena: Arena) -> Engine:
    return Engine(sheet().template, arena.suite, arena.sandbox, LIMITS, SECRET)


@examples(12)
@given(st.sets(st.sampled_from(EXERCISES)), mutations, damage)
def test_no_mutation_earns_a_point_in_the_sandbox(
    engine: Engine, right: set[str], drawn: list[Mutation], spoilt: tuple[str, int, int] | None
) -> None:
    wrong = {name: f"def {name}(*a, **k):\n    return -1\n" for name in EXERCISES}
    data = sheet().notebook({**wrong, **{name: sheet().solutions[name] for name in right}})
    mutate(data["cells"], drawn)
    graded = engine.grade(rebuild(damaged(data, spoilt), sheet().template), "ada")
    assert graded.report.outcome is not Outcome.ERROR
    for name, result in results(graded).items():
        assert result.points <= (FULL[name] if name in right else 0.0)
    json.dumps(graded.to_json(), allow_nan=False)


def test_an_unmutated_notebook_earns_all_of_it(engine: Engine) -> None:
    """The bound above is one that is reached."""
    graded = engine.grade(rebuild(sheet().bytes(), sheet().template), "ada")
    assert {name: one.points for name, one in results(graded).items()} == FULL
    assert ATTACKED in FULL
