"""Every catalogued wrong answer is refused, every right one accepted, in the real sandbox."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.batch.audit import Answer, plan_audit, try_answer
from autograder.batch.course import Course
from autograder.batch.trial import Trial
from autograder.exercises.catalogue import FOLDER, load_exercises
from autograder.results import Outcome

ROOT = Path(__file__).parents[2]
ASSIGNMENTS = sorted(path.name for path in FOLDER.iterdir() if any(path.glob("*.toml")))
EXERCISES = [(name, one) for name in ASSIGNMENTS for one in load_exercises(name).values()]
STYLES = {"ps1-convolution": 6, "ps2-training": 6}

PLANS = [plan_audit(Course(ROOT), name) for name in ASSIGNMENTS]
ANSWERS = [answer for plan in PLANS for answer in plan.answers]

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


def _id(answer: Answer) -> str:
    return f"{answer.assignment}-{answer.exercise}-{'right' if answer.right else 'wrong'}-{answer.name}"


@pytest.mark.parametrize("answer", [pytest.param(one, id=_id(one)) for one in ANSWERS])
def test_the_audit_finds_nothing(trial: Callable[[str], Trial], answer: Answer) -> None:
    """A wrong answer is refused and named, a right one and the notebook's own score full."""
    assert try_answer(trial(answer.assignment), answer).misses == []


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
    assert (FOLDER.parent / "suites" / assignment / f"test_{exercise}.py").is_file()


#: Exercises that ask for numbers of one drawing, one network or one table: there is nothing to draw.
FIXED = {
    "equivariance",
    "lenet_parameters",
    "parameter_count",
    "healthy_stacks",
    "three_words",
    "depth_experiment",
}


@pytest.mark.parametrize(("assignment", "exercise"), [(name, one.name) for name, one in EXERCISES])
def test_every_check_draws_some_of_its_inputs(assignment: str, exercise: str) -> None:
    """Who knows the suite, which is public, must not earn a check by it."""
    if exercise in FIXED:
        return
    path = FOLDER.parent / "suites" / assignment / f"test_{exercise}.py"
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            names = {one.id for line in node.body for one in ast.walk(line) if isinstance(one, ast.Name)}
            assert "rng" in names, f"{path.name}: {node.name} asks the same in every course"


def test_nothing_is_missing_in_the_files() -> None:
    assert [gap for plan in PLANS for gap in plan.gaps] == []


def test_nine_wrong_answers_in_ten_are_named() -> None:
    wrong = [answer for answer in ANSWERS if not answer.right]
    assert sum(bool(answer.unnamed) for answer in wrong) <= 0.1 * len(wrong)
