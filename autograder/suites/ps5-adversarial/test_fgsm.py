"""Checks of `fgsm(x, w, b, y, eps)`.

Inputs lie on both sides of zero and beyond one, so an answer that clips shows; the sign of x_j is
not that of w_j.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import WrongAnswer, close
from autograder.reference import adversarial as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]
Case = tuple[Array, Array, float, int, float]

X = np.array([0.5, 0.2, 0.9])
W = np.array([0.5, -2.0, 1.5])
#: Beyond [0, 1] on both sides; the score is positive, so that the classifier's own answer is 1.
WIDE_X = np.array([-0.6, 1.6, 0.4, -1.25])
WIDE_W = np.array([1.0, 1.5, -0.75, -0.5])


def _case(rng: np.random.Generator, d: int, y: int) -> Case:
    w = rng.permutation(np.arange(1, 2 * d + 1))[:d] / 8.0 * rng.choice([-1.0, 1.0], size=d)
    x = rng.integers(-16, 17, size=d) / 8.0
    return x, w, float(rng.integers(-8, 9)) / 8.0, y, float(rng.integers(3, 12)) / 20.0


def _scored(rng: np.random.Generator, score: float, y: int) -> Case:
    """An input with exactly this score, up to rounding."""
    w = np.array([3.0, -4.0, 2.0, 1.0, -0.5]) * rng.choice([-1.0, 1.0], size=5)
    x = rng.integers(-8, 9, size=5) / 4.0
    b = float(rng.integers(-8, 9)) / 8.0
    x = x + (score - b - x @ w) * w / (w @ w)
    return x, w, b, y, 0.25


def _agree(student: Student, cases: list[Case]) -> None:
    answers = [student.fgsm(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.fgsm(*case))


def _agree_with_one_of(answer: object, candidates: list[Array]) -> None:
    for candidate in candidates[:-1]:
        try:
            close(answer, candidate)
        except WrongAnswer:
            continue
        return
    close(answer, candidates[-1])


def test_label_one(student: Student, rng: np.random.Generator) -> None:
    """With the label 1, every coordinate moves by eps to the side that makes the loss rise."""
    _agree(
        student, [(X, W, 0.1, 1, 0.1), (WIDE_X, WIDE_W, -2.5, 1, 0.3), *(_case(rng, d, 1) for d in (5, 7))]
    )


def test_label_zero(student: Student, rng: np.random.Generator) -> None:
    """With the label 0, every coordinate moves by eps to the side that makes the loss rise."""
    _agree(
        student, [(X, W, -1.5, 0, 0.1), (WIDE_X, WIDE_W, 0.25, 0, 0.3), *(_case(rng, d, 0) for d in (6, 4))]
    )


def test_weight_of_zero(student: Student, rng: np.random.Generator) -> None:
    """Where a weight is zero the coordinate stays or moves by eps, and the others are attacked."""
    cases: list[Case] = [(X, np.array([0.5, 0.0, -1.5]), 0.1, 1, 0.1)]
    for y in (0, 1):
        x, w, b, _, eps = _case(rng, 5, y)
        w[int(rng.integers(5))] = 0.0
        cases.append((x, w, b, y, eps))
    answers = [student.fgsm(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        _, w, _, _, eps = case
        right = reference.fgsm(*case)
        _agree_with_one_of(answer, [right + move * (w == 0.0) for move in (-eps, eps, 0.0)])


@pytest.mark.weight(2)
def test_large_scores(student: Student, rng: np.random.Generator) -> None:
    """The attack is the same when the score is so large that the probability rounds to 0 or 1."""
    cases = [_scored(rng, score, y) for y in (1, 0) for score in (25.0, 45.0, -25.0, -45.0)]
    _agree(student, cases)


def test_negative_eps(student: Student, rng: np.random.Generator) -> None:
    """A negative eps is refused, an eps of zero is not."""
    x, w, b, y, eps = _case(rng, 4, 1)
    _agree(student, [(X, W, 0.1, 1, 0.0), (X, W, 0.1, 0, 0.25), (x, w, b, y, eps)])
    with student.rejects(ValueError):
        student.fgsm(X, W, 0.1, 1, -0.1)
    with student.rejects(ValueError):
        student.fgsm(x, w, b, 0, -eps)


def test_impossible_label(student: Student, rng: np.random.Generator) -> None:
    """A label other than 0 and 1 is refused, and these two are not."""
    x, w, b, _, eps = _case(rng, 4, 1)
    _agree(student, [(x, w, b, 0, eps), (x, w, b, 1, eps)])
    for label in (2, -1, 0.5, int(rng.integers(3, 9))):
        with student.rejects(ValueError):
            student.fgsm(x, w, b, label, eps)
