"""How far a wrong answer came, as its report says it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from autograder.batch.trial import Trial
from autograder.exercises.catalogue import load_exercises
from autograder.results import CheckResult, GradeReport, Outcome, Stage

PS1 = "ps1-convolution"
SIGNATURE = "def cross_correlate(image, kernel):\n    h, w = kernel.shape\n    "
FILLED = "return np.full((image.shape[0] - h + 1, image.shape[1] - w + 1), {value})"
WRONG: dict[str, tuple[str, Stage]] = {
    "raises": (SIGNATURE + "return image.no_such_method()", Stage.RAISES),
    "wrong_type": (SIGNATURE + "return 'a word'", Stage.TYPE),
    "wrong_dimensions": (SIGNATURE + "return np.zeros((2, 2, 2))", Stage.SHAPE),
    "wrong_sizes": (SIGNATURE + "return np.zeros((1, 97))", Stage.SHAPE),
    "not_finite": (SIGNATURE + FILLED.format(value="np.nan"), Stage.FINITE),
    "wrong_value": (SIGNATURE + FILLED.format(value="0.0"), Stage.VALUE),
    "name_missing": ("another_name = 3", Stage.MISSING),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_stage_of_a_wrong_answer(trial: Callable[[str], Trial], name: str) -> None:
    code, stage = WRONG[name]
    failed = [
        check
        for check in trial(PS1).result("cross_correlate", code).checks
        if check.outcome is not Outcome.PASSED
    ]
    assert failed
    assert failed[0].stage is stage


def test_an_untouched_cell_and_a_right_answer(trial: Callable[[str], Trial]) -> None:
    untouched = trial(PS1).result("output_size", None)
    assert {check.stage for check in untouched.checks} == {Stage.NOT_ATTEMPTED}
    right = load_exercises(PS1)["output_size"].right[0]
    assert {check.stage for check in trial(PS1).result("output_size", right.code).checks} == {None}


def test_a_named_misconception_and_an_impossible_input(trial: Callable[[str], Trial]) -> None:
    wrong = {one.name: one for one in load_exercises(PS1)["output_size"].misconceptions}
    named = trial(PS1).result("output_size", wrong["pad_forgotten"].code)
    assert {check.stage for check in named.checks} == {None, Stage.NAMED}
    formula = "(n + 2 * padding - k) // stride + 1 + (n == 7)"
    code = f"def output_size(n, k, padding=0, stride=1):\n    return {formula}"
    stages = {check.stage for check in trial(PS1).result("output_size", code).checks}
    assert Stage.VALUE in stages
    assert Stage.NOT_REFUSED in stages


def test_the_message_of_a_wrong_shape_gives_no_size_away(trial: Callable[[str], Trial]) -> None:
    code, _ = WRONG["wrong_sizes"]
    for check in trial(PS1).result("cross_correlate", code).checks:
        assert "97" not in check.message


def test_a_stage_survives_the_round_trip_and_an_old_report_has_none() -> None:
    check = CheckResult("a", Outcome.FAILED, 0, 1, "No.", stage=Stage.SHAPE)
    assert CheckResult.from_json(check.to_json()) == check
    old = check.to_json()
    del old["stage"]
    assert CheckResult.from_json(old).stage is None
    report = GradeReport("ann", PS1, "convolution", 0, 1, 0, (), (), 0.1)
    assert GradeReport.from_json(report.to_json()) == report
