"""Checks of `adversarial_training_step(w, b, X, y, eps, lr)`.

No weight is zero (either sign attacks it as well), no score is large, and the examples of the two
classes are neither as many nor as the features are, so that a mean over the wrong axis shows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close, items
from autograder.reference import adversarial as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]
Labels = np.ndarray[Any, np.dtype[np.int64]]
Case = tuple[Array, float, Array, Labels, float, float]

W = np.array([1.0, -0.5, 0.75])
B = 0.25
#: A small weight, which half a step takes to the other side of zero.
SMALL = np.array([-0.8, 0.05, -0.5])
X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5], [-2.0, 1.0, 0.75], [0.25, 1.75, -1.25], [1.0, 0.5, 1.0]])
#: The classifier is wrong on two of them.
Y = np.array([1, 0, 1, 0, 1])


def _case(rng: np.random.Generator, n: int, d: int, eps: float) -> Case:
    """Weights small enough that no attacked score leaves the range where a sigmoid keeps its digits."""
    w = rng.uniform(0.2, 0.8, size=d) * rng.choice([-1.0, 1.0], size=d)
    inputs = rng.integers(-8, 9, size=(n, d)) / 4.0
    labels = rng.permutation([1] * (n // 3) + [0] * (n - n // 3)).astype(np.int64)
    return w, float(rng.integers(-4, 5)) / 4.0, inputs, labels, eps, float(rng.integers(2, 8)) / 4.0


def _agree(student: Student, cases: list[Case], part: int) -> None:
    answers = [student.adversarial_training_step(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(items(answer, 2)[part], reference.adversarial_training_step(*case)[part])


def _cases(rng: np.random.Generator) -> list[Case]:
    return [
        (W, B, X, Y, 0.4, 1.0),
        (SMALL, -1.0, X[:4], Y[:4], 0.3, 0.5),
        _case(rng, 7, 4, float(rng.integers(4, 10)) / 20.0),
        _case(rng, 10, 6, float(rng.integers(2, 8)) / 20.0),
    ]


@pytest.mark.weight(2)
def test_weights(student: Student, rng: np.random.Generator) -> None:
    """The weights after a step on clean and attacked examples."""
    _agree(student, _cases(rng), 0)


def test_bias(student: Student, rng: np.random.Generator) -> None:
    """The bias after a step on clean and attacked examples."""
    _agree(student, _cases(rng), 1)


def test_without_attack(student: Student, rng: np.random.Generator) -> None:
    """With an eps of zero it is a usual step."""
    cases: list[Case] = [(W, B, X, Y, 0.0, 0.5), _case(rng, 8, 5, 0.0)]
    _agree(student, cases, 0)
    _agree(student, cases, 1)


def test_negative_eps(student: Student, rng: np.random.Generator) -> None:
    """A negative eps is refused, and its opposite is not."""
    w, b, inputs, labels, eps, lr = _case(rng, 6, 4, 0.3)
    _agree(student, [(W, B, X, Y, 0.1, 0.25), (w, b, inputs, labels, eps, lr)], 0)
    with student.rejects(ValueError):
        student.adversarial_training_step(W, B, X, Y, -0.1, 0.25)
    with student.rejects(ValueError):
        student.adversarial_training_step(w, b, inputs, labels, -eps, lr)


def test_impossible_label(student: Student, rng: np.random.Generator) -> None:
    """Labels of which one is neither 0 nor 1 are refused, and the same ones mended are not."""
    w, b, inputs, labels, eps, lr = _case(rng, 6, 4, 0.3)
    _agree(student, [(W, B, X, Y, 0.1, 0.25), (w, b, inputs, labels, eps, lr)], 0)
    for label in (2, -1):
        spoiled = labels.copy()
        spoiled[int(rng.integers(6))] = label
        with student.rejects(ValueError):
            student.adversarial_training_step(w, b, inputs, spoiled, eps, lr)
