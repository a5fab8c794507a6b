"""Checks of `optimal_discriminator(p_data, p_g)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import gan as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]
Case = tuple[Array, Array]

TWO: Case = (np.array([0.9, 0.1]), np.array([0.5, 0.5]))
THREE: Case = (np.array([0.2, 0.3, 0.5]), np.array([0.5, 0.3, 0.2]))


def _law(rng: np.random.Generator, n: int) -> Array:
    weights = rng.permutation(np.arange(1, 3 * n))[:n].astype(np.float64)
    law: Array = weights / weights.sum()
    return law


def _agree(student: Student, cases: list[Case]) -> None:
    answers = [student.optimal_discriminator(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.optimal_discriminator(list(case[0]), list(case[1])))


@pytest.mark.weight(2)
def test_different_laws(student: Student, rng: np.random.Generator) -> None:
    """The answer at each point, for laws that differ."""
    _agree(student, [TWO, THREE, (_law(rng, 5), _law(rng, 5)), (_law(rng, 7), _law(rng, 7))])


def test_equal_laws(student: Student, rng: np.random.Generator) -> None:
    """The answer when the laws are equal, at some of the points or at all."""
    law = _law(rng, 4)
    swapped = law[[1, 0, 2, 3]]
    _agree(student, [(law, law.copy()), (law, swapped), (_law(rng, 2),) * 2])


def test_probability_of_zero(student: Student, rng: np.random.Generator) -> None:
    """A point that one of the laws never gives away is told without doubt."""
    half = _law(rng, 3)
    _agree(
        student,
        [
            (np.array([0.0, 0.4, 0.6]), np.array([0.3, 0.7, 0.0])),
            (np.array([1.0, 0.0]), np.array([0.25, 0.75])),
            (np.append(half, 0.0), np.append(half[::-1] / 2, 0.5)),
        ],
    )
