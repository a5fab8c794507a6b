"""Checks of `momentum_step(theta, v, g, lr, beta)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close, items
from autograder.reference import optimisation as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]
Case = tuple[Array, Array, Array, float, float]

FIRST = (np.array([1.0, 1.0]), np.zeros(2), np.array([1.0, 100.0]), 0.019, 0.9)
LATER = (np.array([0.981, -0.9]), np.array([2.0, -3.0]), np.array([0.5, 4.0]), 0.25, 0.7)
PLAIN = (np.array([1.0, 2.0, -1.0]), np.array([5.0, -6.0, 7.0]), np.array([2.0, 0.5, -3.0]), 0.1, 0.0)
GRID = (
    np.array([[1.0, -2.0, 0.5], [3.0, 0.25, -1.5]]),
    np.array([[0.5, 4.0, -1.0], [2.0, -3.0, 6.0]]),
    np.array([[-1.5, 2.5, 3.5], [0.75, -5.0, 1.25]]),
    0.4,
    0.6,
)


def _drawn(rng: np.random.Generator, *shape: int) -> Case:
    theta, v, g = (rng.integers(1, 17, size=shape) * rng.choice([-0.25, 0.25], shape) for _ in range(3))
    return theta, v, g, float(rng.choice([0.2, 0.35, 0.45])), float(rng.choice([0.6, 0.75, 0.8]))


def _agree(student: Student, cases: list[Case], places: tuple[int, ...]) -> None:
    answers = [student.momentum_step(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        got = items(answer, 2)
        for place in places:
            close(got[place], reference.momentum_step(*case)[place], atol=1e-5)


def test_velocity(student: Student, rng: np.random.Generator) -> None:
    """The new velocity, at the first step and later."""
    _agree(student, [FIRST, LATER, _drawn(rng, 3)], (1,))


@pytest.mark.weight(2)
def test_parameters(student: Student, rng: np.random.Generator) -> None:
    """The new parameters, at the first step and later."""
    _agree(student, [FIRST, LATER, _drawn(rng, 3)], (0,))


def test_without_momentum(student: Student, rng: np.random.Generator) -> None:
    """With a beta of zero the past has no part in the parameters nor in the velocity."""
    theta, v, g, lr, _ = _drawn(rng, 4)
    _agree(student, [PLAIN, (theta, v, g, lr, 0.0)], (0, 1))


def test_matrices(student: Student, rng: np.random.Generator) -> None:
    """Parameters that form a matrix."""
    _agree(student, [GRID, _drawn(rng, 4, 3)], (0, 1))
