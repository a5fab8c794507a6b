"""Checks of `gan_value(p_data, p_g)`."""

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
THREE: Case = (np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.3, 0.1]))


def _law(rng: np.random.Generator, n: int) -> Array:
    weights = rng.permutation(np.arange(1, 3 * n))[:n].astype(np.float64)
    law: Array = weights / weights.sum()
    return law


def _agree(student: Student, cases: list[Case]) -> None:
    answers = [student.gan_value(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.gan_value(list(case[0]), list(case[1])))


@pytest.mark.weight(2)
def test_different_laws(student: Student, rng: np.random.Generator) -> None:
    """The value for laws that differ."""
    far = np.array([0.02, 0.08, 0.9])
    _agree(student, [TWO, THREE, (far, far[::-1].copy()), (_law(rng, 5), _law(rng, 5))])


def test_equal_laws(student: Student, rng: np.random.Generator) -> None:
    """The value when the generator has found the law of the data, and when it is not there yet."""
    law, other = _law(rng, 4), _law(rng, 2)
    _agree(student, [(law, law.copy()), (law, np.array([0.85, 0.05, 0.05, 0.05])), (other, other.copy())])


@pytest.mark.weight(2)
def test_probability_of_zero(student: Student, rng: np.random.Generator) -> None:
    """The value is finite where one of the laws gives a point the probability zero."""
    part = _law(rng, 3)
    _agree(
        student,
        [
            (np.array([1.0, 0.0]), np.array([0.5, 0.5])),
            (np.array([0.0, 0.4, 0.6]), np.array([0.3, 0.7, 0.0])),
            (np.array([0.3, 0.7, 0.0]), np.array([0.0, 0.0, 1.0])),
            (np.append(part, 0.0), np.append(part[::-1] / 2, 0.5)),
        ],
    )
