"""Checks of `dropout_variance(a, p)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import dropout as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]

A = np.array([2.0, 4.0, 6.0, 8.0])


def _drawn(rng: np.random.Generator, n: int) -> Array:
    a: Array = rng.permutation(np.arange(1, 2 * n + 1))[:n] * rng.choice([-0.5, 0.5], n)
    return a


def _agree(student: Student, cases: list[tuple[Array, float]]) -> None:
    answers = [student.dropout_variance(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.dropout_variance(*case), atol=1e-5)


@pytest.mark.weight(2)
def test_small_probabilities(student: Student, rng: np.random.Generator) -> None:
    """The variance of each unit when few are dropped."""
    p = float(rng.choice([0.1, 0.15, 0.3, 0.4]))
    _agree(student, [(A, 0.2), (A, 0.25), (_drawn(rng, 5), p)])


def test_large_probabilities(student: Student, rng: np.random.Generator) -> None:
    """The variance of each unit when most are dropped, with activations of both signs."""
    p = float(rng.choice([0.6, 0.7, 0.85]))
    _agree(student, [(np.array([1.0, -3.0, 0.5]), 0.75), (_drawn(rng, 3), p)])


def test_impossible_probability(student: Student, rng: np.random.Generator) -> None:
    """A probability outside [0, 1) is refused; zero is not, and then nothing varies."""
    _agree(student, [(A, 0.0), (A, 0.5), (_drawn(rng, 3), 0.95)])
    for p in (1.0, -0.25, 1.25):
        with student.rejects(ValueError):
            student.dropout_variance(A, p)
