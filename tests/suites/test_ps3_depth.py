"""ps3-depth beyond its catalogue: what a claim can earn, what is flagged, other threads and secrets."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.batch.trial import Trial
from autograder.exercises.catalogue import load_exercises
from autograder.grading.answers import AnswerSheet
from autograder.grading.engine import Engine
from autograder.grading.submission import rebuild
from autograder.grading.suite import Suite
from autograder.results import GradeReport, Outcome
from autograder.sandbox.limits import Limits
from autograder.sandbox.process import Sandbox

ROOT = Path(__file__).parents[2]
ASSIGNMENT = "ps3-depth"
EXPERIMENT = "depth_experiment"
RIGHT = load_exercises(ASSIGNMENT)[EXPERIMENT].right[0]
TRUE = RIGHT.claims["depth"]
NO_TRAIN = "\n\ndef train(mode, seed, depth=20, epochs=8, data=None):\n    return [0.9] * epochs\n"

Trials = Callable[[str], Trial]


def claim(**changes: Any) -> dict[str, Any]:
    return {"depth": {**copy.deepcopy(TRUE), **changes}}


def report(trial: Trials, code: str = RIGHT.code, **changes: Any) -> GradeReport:
    return trial(ASSIGNMENT).grade(EXPERIMENT, code, claim(**changes)).report


def test_what_was_measured_earns_all_and_raises_no_flag(trial: Trials) -> None:
    found = report(trial)
    assert found.score == found.exercises[0].max_points
    assert found.flags == ()


def test_invented_accuracies_are_flagged_and_not_lowered(trial: Trials) -> None:
    invented = [[0.95 - 0.01 * i for i in range(8)][::-1]] * 4
    plain = [[0.5] * 8] * 3 + [[0.2] * 8]
    found = report(trial, plain=plain, prenorm=invented, separation_depth=4)
    assert found.score == found.exercises[0].max_points
    assert len(found.flags) == 1
    assert "measured again" in found.flags[0]


def test_the_staff_see_a_flag_and_the_student_does_not(trial: Trials) -> None:
    graded = trial(ASSIGNMENT).grade(
        EXPERIMENT, RIGHT.code, claim(plain=[[0.5] * 8] * 4, prenorm=[[0.9] * 8] * 4)
    )
    first = graded.notebook["cells"][0]
    assert first["metadata"]["deepdrills"]["role"] == "marking-scheme"
    assert graded.report.flags[0] in first["source"]
    others = graded.notebook["cells"][1:]
    assert not any(graded.report.flags[0] in str(cell) for cell in others)


def test_accuracies_of_other_images_are_not_measured_again(trial: Trials) -> None:
    found = report(trial, data="cifar10")
    assert found.score == found.exercises[0].max_points
    assert len(found.flags) == 1
    assert "embedded" in found.flags[0]


@pytest.mark.parametrize(
    "numbers",
    [
        {},
        {"depth": {}},
        {"Depth": TRUE},
        claim(plain=None),
        claim(prenorm="0.9"),
        claim(plain=[[1.5] * 8] * 4),
        claim(prenorm=[[0.9] * 7] * 4),
        claim(depths=[20, 12, 8, 4]),
    ],
)
def test_numbers_that_can_not_be_so_earn_nothing_of_theirs(trial: Trials, numbers: dict[str, Any]) -> None:
    result = trial(ASSIGNMENT).grade(EXPERIMENT, RIGHT.code, numbers).report.exercises[0]
    outcomes = {check.name: check.outcome for check in result.checks}
    assert outcomes["recorded"] is Outcome.FAILED
    assert outcomes["depths_follow"] is Outcome.FAILED


def test_a_claim_earns_nothing_without_the_work_behind_it(trial: Trials) -> None:
    """The right numbers, copied, by someone whose own `train` does nothing."""
    result = trial(ASSIGNMENT).grade(EXPERIMENT, RIGHT.code + NO_TRAIN, claim()).report.exercises[0]
    passed = {check.name for check in result.checks if check.outcome is Outcome.PASSED and check.points}
    assert passed == {"ratios"}  # measured again by the course, whoever wrote them down


def test_copied_outputs_below_an_untouched_cell_earn_nothing(trial: Trials) -> None:
    result = trial(ASSIGNMENT).grade(EXPERIMENT, None, claim()).report.exercises[0]
    assert result.outcome is Outcome.NOT_ATTEMPTED
    assert result.points == 0


@pytest.fixture(scope="module")
def sheet() -> AnswerSheet:
    return AnswerSheet(ROOT, ASSIGNMENT)


CHOSEN = ("gradient_ratio", "convstack_partial", "train", "postnorm_table")


def _grades(sheet: AnswerSheet, secret: str) -> dict[str, float]:
    """Points of the first right and the first wrong answer of some exercises."""
    found: dict[str, float] = {}
    limits = Limits()
    with Suite(ASSIGNMENT) as suite, Sandbox(limits, hidden=[ROOT], slot=3) as sandbox:
        trial = Trial(sheet, suite, sandbox, limits, secret)
        for name in CHOSEN:
            one = load_exercises(ASSIGNMENT)[name]
            # A wrong `train` is compared with every other one: minutes, three times over.
            answers = {one.right[0].name: one.right[0].code}
            if name != "train":
                answers[one.misconceptions[0].name] = one.misconceptions[0].code
            for answer, code in answers.items():
                found[f"{name}/{answer}"] = trial.result(name, code).points
    return found


def test_threads_and_secrets_change_no_grade(sheet: AnswerSheet) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = _grades(sheet, "one secret")
        torch.set_num_threads(2)
        two = _grades(sheet, "one secret")
        other = _grades(sheet, "another secret")
    finally:
        torch.set_num_threads(before)
    assert one == two == other
    assert sum(one.values()) > 0


def test_the_courses_own_answers_earn_every_point_in_time(sheet: AnswerSheet) -> None:
    limits = Limits()
    with Suite(ASSIGNMENT) as suite, Sandbox(limits, hidden=[ROOT], slot=4) as sandbox:
        engine = Engine(sheet.template, suite, sandbox, limits, "the tests' own secret")
        graded = engine.grade(rebuild(sheet.bytes(), sheet.template), "ada")
    missed = [
        (exercise.grade_id, check.name, check.message)
        for exercise in graded.report.exercises
        for check in exercise.checks
        if check.outcome is not Outcome.PASSED
    ]
    assert missed == []
    assert graded.report.score == 23
    assert graded.report.max_score == 30
    assert graded.trouble == ()
    assert graded.report.flags == ()
