"""Every odd submission earns the points that it is worth, and every repair is said, word for word."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from autograder.batch.folder import read_folder
from autograder.grading.engine import Engine
from autograder.grading.graded import Graded
from autograder.grading.submission import Submission, rebuild
from autograder.results import Outcome

from ..arena import LIMITS, SECRET, Arena, results
from .case import FULL, Odd, sheet
from .cells import CELLS
from .files import FILES
from .places import PLACES
from .runs import RUNS
from .sizes import SIZES

CASES = [*CELLS, *FILES, *PLACES, *RUNS, *SIZES]


@pytest.fixture(scope="session")
def grade(arena: Arena) -> Callable[[Submission], Graded]:
    """Grade on the short notebook; what is rebuilt to the same cells and files is graded once."""
    engine = Engine(sheet().template, arena.suite, arena.sandbox, LIMITS, SECRET)
    known: dict[str, Graded] = {}

    def run(submission: Submission) -> Graded:
        key = replace(submission, repairs=()).digest
        if key not in known:
            known[key] = engine.grade(replace(submission, repairs=()), "ada")
        report = known[key].report
        return replace(known[key], report=replace(report, repairs=(*submission.repairs, *report.repairs)))

    return run


def submission(case: Odd, folder: Path) -> Submission:
    handed = read_folder(case.hand_in(folder), sheet().template.notebook)
    return rebuild(handed.notebook, sheet().template, handed.files, handed.notes)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_odd(case: Odd, grade: Callable[[Submission], Graded], tmp_path: Path) -> None:
    graded = grade(submission(case, tmp_path / "ada"))
    found = results(graded)
    assert {name: one.points for name, one in found.items()} == {
        name: 0.0 if name in case.lost else points for name, points in FULL.items()
    }, found
    for name, one in found.items():
        assert one.outcome is case.lost.get(name, Outcome.PASSED), one
        assert one.max_points == FULL[name]
    assert graded.report.repairs == case.said
    assert case.shows in shown(graded)
    nbformat.validate(nbformat.from_dict(json.loads(json.dumps(graded.notebook, allow_nan=False))))


def test_there_are_enough_and_each_has_its_name() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names)) >= 60
    assert {case.points for case in CASES} >= {0.0, 3.0, 5.0}


def shown(graded: Graded) -> str:
    """What the outputs show and the checks say, as text."""
    parts = [check.message for one in graded.report.exercises for check in one.checks]
    for cell in graded.notebook["cells"]:
        for output in cell.get("outputs", []):
            parts += [output.get("text", ""), output.get("evalue", ""), output.get("ename", "")]
            parts += [*output.get("traceback", []), str(output.get("data", {}).get("text/plain", ""))]
    return "\n".join(parts)
