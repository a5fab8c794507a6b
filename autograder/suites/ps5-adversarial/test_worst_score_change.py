"""Checks of `worst_score_change(w, eps)`.

Weights have both signs and different sizes: their sum, their largest and their Euclidean norm all
differ from their 1-norm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import adversarial as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]

#: Their sum is zero, as signs that cancel show.
BALANCED = np.array([0.5, -2.0, 1.5])
NEGATIVE = np.array([-3.0, -0.25, -1.0, -2.5])


def _weights(rng: np.random.Generator, d: int) -> Array:
    return rng.permutation(np.arange(1, 2 * d + 1))[:d] / 4.0 * rng.choice([-1.0, 1.0], size=d)


def _agree(student: Student, cases: list[tuple[Array, float]]) -> None:
    answers = [student.worst_score_change(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.worst_score_change(*case))


@pytest.mark.weight(2)
def test_both_signs(student: Student, rng: np.random.Generator) -> None:
    """Weights of both signs all contribute to the worst change."""
    eps = float(rng.integers(3, 20)) / 40.0
    _agree(student, [(BALANCED, 0.1), (np.array([3.0, -4.0]), 0.5), (NEGATIVE, 0.2), (_weights(rng, 6), eps)])


def test_many_weights(student: Student, rng: np.random.Generator) -> None:
    """Many small weights, some of them zero, add up."""
    signs = rng.choice([-1.0, 0.0, 1.0], size=350)
    signs[:3] = 0.0, 1.0, -1.0
    _agree(student, [(np.full(784, 0.1), 0.1), (0.05 * signs, 0.3)])


def test_eps(student: Student, rng: np.random.Generator) -> None:
    """The change is in proportion to eps, nothing moves without it, and a negative one is refused."""
    w = _weights(rng, 5)
    _agree(student, [(BALANCED, 0.0), (BALANCED, 2.5), (w, 0.125)])
    with student.rejects(ValueError):
        student.worst_score_change(BALANCED, -0.1)
    with student.rejects(ValueError):
        student.worst_score_change(w, -float(rng.integers(1, 9)))
