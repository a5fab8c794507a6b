"""Checks of `layer_norm(x, gamma, beta, eps=1e-5)`, over the last axis.

Nearly constant rows have a mean of 0, or of 1 with deviations of 1e-2 and no beta: closer ones are
out of reach of float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import normalisation as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]
Case = tuple[tuple[Array, Array, Array], dict[str, float]]

X = np.array([[1.5, -0.5, 2.0, -2.5], [0.5, 3.0, -1.0, -2.0], [-0.75, 1.0, 0.25, 0.0]])
GAMMA, BETA = np.array([1.5, -0.5, 2.0, 0.75]), np.array([0.25, 1.0, -0.75, 0.5])
ONES, ZEROS = np.ones(4), np.zeros(4)


def _drawn(rng: np.random.Generator, *shape: int, **options: float) -> Case:
    x = rng.normal(0.25, 1.5, size=shape).round(2)
    gamma, beta = (
        rng.integers(2, 9, size=shape[-1]) * rng.choice([-0.25, 0.25], shape[-1]) for _ in range(2)
    )
    return (x, gamma, beta), options


def _agree(student: Student, cases: list[Case]) -> None:
    answers = [student.layer_norm(*arguments, **options) for arguments, options in cases]
    for answer, (arguments, options) in zip(answers, cases, strict=True):
        close(answer, reference.layer_norm(*arguments, **options), atol=1e-5)


@pytest.mark.weight(2)
def test_rows(student: Student, rng: np.random.Generator) -> None:
    """Each row is normalised by its own mean and variance."""
    (drawn, _, _), _ = _drawn(rng, 5, 4)
    fixed: list[Case] = [((X, ONES, ZEROS), {}), ((X + 1.0, 2 * ONES, ZEROS), {}), ((X, GAMMA, ZEROS), {})]
    _agree(student, [*fixed, ((drawn, ONES, ZEROS), {})])


def test_gamma_and_beta(student: Student, rng: np.random.Generator) -> None:
    """Each feature has its own gamma and its own beta."""
    _agree(student, [((X, GAMMA, BETA), {}), _drawn(rng, 2, 5), _drawn(rng, 6, 3)])


def test_other_shapes(student: Student, rng: np.random.Generator) -> None:
    """The last axis of a batch of sequences, and a single row."""
    _agree(student, [_drawn(rng, 2, 3, 5), _drawn(rng, 4, 2, 3), ((X[0], GAMMA, BETA), {})])


def test_eps(student: Student, rng: np.random.Generator) -> None:
    """The place of eps, which nearly constant rows and a large eps show."""
    tiny = np.array([[0.0, 1e-3, -1e-3, 0.0], [2e-3, -1e-3, -1e-3, 0.0]])
    near_one = 1.0 + np.array([[0.01, -0.01, 0.01, -0.01], [-0.01, 0.0, 0.01, 0.0]])
    cases: list[Case] = [((tiny, GAMMA, BETA), {}), ((near_one, GAMMA, ZEROS), {})]
    _agree(student, [*cases, ((X, GAMMA, BETA), {"eps": 1.0}), _drawn(rng, 3, 5, eps=0.6)])
