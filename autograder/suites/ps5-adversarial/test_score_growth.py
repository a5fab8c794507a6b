"""Checks of `score_growth(dimensions, weight, eps)`."""

from __future__ import annotations

import numpy as np

from autograder.exercises.compare import close, items
from autograder.reference import adversarial as reference
from autograder.sandbox.student import Student

Case = tuple[list[int], float, float]


def _cases(rng: np.random.Generator) -> list[Case]:
    """Lists that are neither sorted nor of two numbers, so that a transposed answer shows."""
    drawn = [int(n) for n in rng.permutation(np.arange(2, 900))[:5]]
    return [
        ([1, 9, 100, 784], 0.5, 0.3),
        ([50, 3, 12], 2.0, 0.05),
        (drawn, float(rng.integers(2, 12)) / 8.0, float(rng.integers(3, 12)) / 20.0),
    ]


def _agree(student: Student, cases: list[Case], part: int) -> None:
    answers = [student.score_growth(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(items(answer, 2)[part], reference.score_growth(*case)[part])


def test_worst(student: Student, rng: np.random.Generator) -> None:
    """The worst change for each of the dimensions."""
    _agree(student, _cases(rng), 0)


def test_typical(student: Student, rng: np.random.Generator) -> None:
    """The root mean square of the random change for each of the dimensions."""
    _agree(student, _cases(rng), 1)


def test_negative_eps(student: Student, rng: np.random.Generator) -> None:
    """A negative eps is refused, and its opposite is not."""
    dimensions, weight, eps = _cases(rng)[2]
    _agree(student, [(dimensions, weight, eps), ([4, 7, 2], 0.25, 0.5)], 0)
    with student.rejects(ValueError):
        student.score_growth(dimensions, weight, -eps)
    with student.rejects(ValueError):
        student.score_growth([4, 7, 2], 0.25, -0.5)
