"""Checks of `rms_norm(x, gamma, eps=1e-6)`, over the last axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import normalisation as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]
Case = tuple[tuple[Array, Array], dict[str, float]]

X = np.array([[4.0, 3.0, 1.0, 0.0], [0.5, 3.0, -1.0, -2.0], [-0.75, 1.0, 0.25, 0.5]])
GAMMA = np.array([1.0, -2.0, 0.5, 3.0])
ONES = np.ones(4)


def _drawn(rng: np.random.Generator, *shape: int, **options: float) -> Case:
    x = rng.normal(0.75, 1.5, size=shape).round(2)
    return (x, rng.integers(2, 9, size=shape[-1]) * rng.choice([-0.25, 0.25], shape[-1])), options


def _agree(student: Student, cases: list[Case]) -> None:
    answers = [student.rms_norm(*arguments, **options) for arguments, options in cases]
    for answer, (arguments, options) in zip(answers, cases, strict=True):
        close(answer, reference.rms_norm(*arguments, **options), atol=1e-5)


@pytest.mark.weight(2)
def test_rows(student: Student, rng: np.random.Generator) -> None:
    """Each row is divided by its own root mean square, and by nothing else."""
    _agree(student, [((X, ONES), {}), ((X - 1.0, 2 * ONES), {}), ((_drawn(rng, 2, 4)[0][0], ONES), {})])


def test_gamma(student: Student, rng: np.random.Generator) -> None:
    """Each feature has its own gamma."""
    _agree(student, [((X, GAMMA), {}), _drawn(rng, 2, 5), _drawn(rng, 6, 3)])


def test_other_shapes(student: Student, rng: np.random.Generator) -> None:
    """The last axis of a batch of sequences, and a single row."""
    _agree(student, [_drawn(rng, 2, 3, 5), _drawn(rng, 4, 2, 3), ((X[1], GAMMA), {})])


def test_eps(student: Student, rng: np.random.Generator) -> None:
    """The place of eps, which small rows and a large eps show."""
    tiny = np.array([[1e-3, -1e-3, 2e-3, 0.0], [5e-4, 1e-3, 0.0, -1e-3]])
    _agree(student, [((tiny, GAMMA), {}), ((X, GAMMA), {"eps": 1.0}), _drawn(rng, 3, 5, eps=0.6)])
