"""Checks of `sequence_log_probability(conditionals)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import sampling as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]


def _agree(student: Student, cases: list[Array]) -> None:
    answers = [student.sequence_log_probability(case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.sequence_log_probability(case))


def test_short(student: Student, rng: np.random.Generator) -> None:
    """A few words, each with its own conditional probability."""
    drawn = rng.integers(5, 95, size=4) / 100
    _agree(student, [np.array([0.5, 0.25, 0.8]), np.array([0.9, 0.1]), drawn])


@pytest.mark.weight(2)
def test_long(student: Student, rng: np.random.Generator) -> None:
    """Sequences of hundreds of words, whose probability is too small for a number."""
    drawn = rng.integers(1, 40, size=int(rng.integers(350, 500))) / 1000
    _agree(student, [np.full(400, 0.01), np.full(600, 0.125), drawn])


def test_one_word(student: Student, rng: np.random.Generator) -> None:
    """Sequences of a single word, beside one of two."""
    drawn = int(rng.integers(5, 50)) / 100
    _agree(student, [np.array([0.25]), np.array([0.6]), np.array([drawn]), np.array([0.9, 0.2])])


def test_certain_words(student: Student, rng: np.random.Generator) -> None:
    """Words that were certain, anywhere in the sequence, change nothing."""
    some = rng.integers(10, 90, size=2) / 100
    _agree(
        student,
        [np.array([1.0, 0.3, 0.7]), np.array([0.2, 1.0, 1.0]), np.array([some[0], 1.0, some[1], 1.0])],
    )
