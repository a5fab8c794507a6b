"""Checks of `softmax(z, axis=-1)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import attention as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]

#: (3, 4), both signs, no two rows or columns alike.
MATRIX = np.array([[0.5, -1.0, 2.0, 0.25], [1.5, 0.75, -2.0, 1.0], [-0.5, 3.0, 0.0, -1.25]])


def _scores(rng: np.random.Generator, *shape: int) -> Array:
    """Quarters of integers between -2 and 2."""
    return rng.integers(-8, 9, size=shape) / 4.0


def _agree(student: Student, cases: list[tuple[Any, ...]]) -> None:
    answers = [student.softmax(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.softmax(*case))


def test_vector(student: Student, rng: np.random.Generator) -> None:
    """A vector of moderate scores becomes weights that sum to one."""
    _agree(
        student, [(np.array([2.0, 1.0, 0.1]),), (MATRIX[0],), (-1.0 - np.abs(MATRIX[1]),), (_scores(rng, 6),)]
    )


@pytest.mark.weight(2)
def test_rows(student: Student, rng: np.random.Generator) -> None:
    """By default, each row of a matrix becomes weights of its own."""
    _agree(student, [(MATRIX,), (MATRIX.T.copy(),), (_scores(rng, 4, 6),), (MATRIX[:, :3], 1)])


def test_columns(student: Student, rng: np.random.Generator) -> None:
    """With axis=0, each column of a matrix becomes weights of its own."""
    _agree(student, [(MATRIX, 0), (MATRIX[:, 1:], 0), (_scores(rng, 5, 3), 0)])


@pytest.mark.weight(2)
def test_large_scores(student: Student, rng: np.random.Generator) -> None:
    """Scores of a thousand, of either sign, side by side in a row or in different rows."""
    shift = float(rng.integers(900, 1100))
    mixed = np.array([[1000.0, 999.0, 998.5], [-1000.0, -1001.0, -999.5]])
    _agree(
        student,
        [
            (np.array([1000.0, 1001.0, 999.0, -1000.0]),),
            (np.array([-1000.0, -1000.5, -1002.0]),),
            (np.array([1000.0, -1000.0, 999.5, -1000.0, -998.0, -1000.0]),),
            (mixed,),
            (mixed.T.copy(), 0),
            (_scores(rng, 5) + shift,),
        ],
    )
