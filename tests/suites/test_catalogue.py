"""Every catalogued wrong answer is refused, every right one accepted, in the real sandbox."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.batch.trial import Trial
from autograder.exercises.catalogue import FOLDER, Misconception, load_exercises
from autograder.results import Outcome

ASSIGNMENTS = sorted(path.name for path in FOLDER.iterdir() if any(path.glob("*.toml")))
EXERCISES = [(name, one) for name in ASSIGNMENTS for one in load_exercises(name).values()]
STYLES = {"ps1-convolution": 6}

#: Refused but not named; the catalogue has the reason.
UNNAMED = {
    (one.name, wrong.name): wrong.unnamed
    for _, one in EXERCISES
    for wrong in one.misconceptions
    if wrong.unnamed
}

#: Answers that need no thought; each is tried on every exercise that asks for a function.
TRIVIAL = {
    "returns_zero": "def {name}(*a, **k):\n    return 0\n",
    "returns_one": "def {name}(*a, **k):\n    return 1\n",
    "returns_none": "def {name}(*a, **k):\n    return None\n",
    "returns_its_argument": "def {name}(*a, **k):\n    return a[0]\n",
    "returns_its_last_argument": "def {name}(*a, **k):\n    return a[-1]\n",
    "returns_an_array": "def {name}(*a, **k):\n    return np.zeros((4, 4))\n",
    "returns_nan": "def {name}(*a, **k):\n    return float('nan')\n",
    "always_raises": "def {name}(*a, **k):\n    raise ValueError('no')\n",
    "returns_everything_true": "class Yes:\n    def __eq__(self, other): return True\n"
    "    def __array__(self, *a, **k): return np.zeros(1)\ndef {name}(*a, **k):\n    return Yes()\n",
}


@pytest.mark.parametrize(
    ("assignment", "exercise", "wrong"),
    [
        pytest.param(name, one.name, wrong, id=f"{name}-{one.name}-{wrong.name}")
        for name, one in EXERCISES
        for wrong in one.misconceptions
    ],
)
def test_a_wrong_answer_is_refused_and_named(
    trial: Callable[[str], Trial], assignment: str, exercise: str, wrong: Misconception
) -> None:
    result = trial(assignment).result(exercise, wrong.code)
    assert result.points < result.max_points, "every check passed"
    assert result.outcome not in (Outcome.ERROR, Outcome.NOT_ATTEMPTED)
    names = {check.misconception for check in result.checks if check.misconception}
    # The numbers that an experiment recorded are a student's own: no catalogued ones can equal them.
    unnamed = (exercise, wrong.name) in UNNAMED or bool(wrong.claims)
    assert names == (set() if unnamed else {wrong.name})


@pytest.mark.parametrize(
    ("assignment", "exercise", "code"),
    [
        pytest.param(name, one.name, right.code, id=f"{name}-{one.name}-{right.name}")
        for name, one in EXERCISES
        for right in one.right
    ],
)
def test_a_right_answer_scores_full(
    trial: Callable[[str], Trial], assignment: str, exercise: str, code: str
) -> None:
    result = trial(assignment).result(exercise, code)
    assert [
        (check.name, check.message) for check in result.checks if check.outcome is not Outcome.PASSED
    ] == []
    assert result.points == result.max_points


@pytest.mark.parametrize("trivial", TRIVIAL)
@pytest.mark.parametrize(("assignment", "exercise"), [(name, one.name) for name, one in EXERCISES])
def test_an_answer_without_thought_scores_nothing(
    trial: Callable[[str], Trial], assignment: str, exercise: str, trivial: str
) -> None:
    asked = load_exercises(assignment)[exercise].asks
    code = "\n\n".join(TRIVIAL[trivial].format(name=name) for name in asked)
    assert trial(assignment).result(exercise, code).points == 0


@pytest.mark.parametrize(("assignment", "exercise"), [(name, one.name) for name, one in EXERCISES])
def test_an_untouched_cell_is_not_attempted(
    trial: Callable[[str], Trial], assignment: str, exercise: str
) -> None:
    result = trial(assignment).result(exercise, None)
    assert result.outcome is Outcome.NOT_ATTEMPTED
    assert result.points == 0


@pytest.mark.parametrize(("assignment", "exercise"), [(name, one.name) for name, one in EXERCISES])
def test_every_exercise_is_catalogued_in_several_styles(assignment: str, exercise: str) -> None:
    one = load_exercises(assignment)[exercise]
    assert len(one.right) >= STYLES.get(assignment, 5)
    assert one.misconceptions
    assert (Path(FOLDER).parent / "suites" / assignment / f"test_{exercise}.py").is_file()


def test_nine_wrong_answers_in_ten_are_named() -> None:
    assert len(UNNAMED) <= 0.1 * sum(len(one.misconceptions) for _, one in EXERCISES)
