"""Checks of `temperature_softmax(z, tau)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import sampling as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]

Z = np.array([2.0, 1.0, 0.1])
OTHER = np.array([-1.5, 0.5, -0.25, 1.25, -3.0])


def _scores(rng: np.random.Generator, n: int) -> Array:
    """All different, quarters of integers of both signs."""
    return rng.permutation(np.arange(-2 * n, 2 * n))[:n] / 4.0


def _agree(student: Student, cases: list[tuple[Array, float]]) -> None:
    answers = [student.temperature_softmax(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.temperature_softmax(*case))


@pytest.mark.weight(2)
def test_moderate_temperatures(student: Student, rng: np.random.Generator) -> None:
    """Temperatures on either side of one sharpen or flatten the law."""
    drawn = int(rng.integers(11, 30)) / 10
    _agree(student, [(Z, 1.0), (Z, 0.5), (Z, 2.0), (OTHER, 0.8), (OTHER, 3.5), (_scores(rng, 6), drawn)])


def test_low_temperatures(student: Student, rng: np.random.Generator) -> None:
    """Low temperatures and large scores overflow nothing, and keep close scores apart."""
    drawn = int(rng.integers(2, 9)) / 10_000
    _agree(
        student,
        [
            (np.array([2.0, 1.998, 0.1]), 0.002),
            (np.array([1000.0, 999.75, 998.0]), 0.5),
            (Z + 1000.0, 1.0),
            (np.array([-500.0, -499.5, -501.0]), 0.25),
            (Z * drawn + np.array([1.0, 1.0, 0.0]), drawn),
        ],
    )


def test_high_temperatures(student: Student, rng: np.random.Generator) -> None:
    """High temperatures bring the law close to equal shares, without reaching them."""
    drawn = float(rng.integers(8, 20))
    _agree(student, [(10.0 * Z, 15.0), (4.0 * OTHER, 12.0), (5.0 * _scores(rng, 4), drawn)])


def test_impossible_temperatures(student: Student, rng: np.random.Generator) -> None:
    """A temperature of zero or below is refused, and a small one is not."""
    drawn = int(rng.integers(1, 9)) / 10
    _agree(student, [(Z, 0.25), (OTHER, 0.5), (Z, drawn)])
    for tau in (0.0, -1.0, -drawn):
        with student.rejects(ValueError):
            student.temperature_softmax(Z, tau)
