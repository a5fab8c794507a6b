"""Checks of `positional_encoding(t, d)`."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import attention as reference
from autograder.sandbox.student import Student

#: An angle of 60 in float32 is off by 60 * 6e-8, and by ten times that when its frequency comes from
#: an exponential in float32; sines near 0 then differ by 3e-5. The nearest wrong answer, with 1000
#: for 10 000, moves an entry by more than 1e-2 in every check that has two pairs or more.
ATOL = 1e-4


def _agree(student: Student, cases: list[tuple[int, int]]) -> None:
    answers = [student.positional_encoding(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.positional_encoding(*case), atol=ATOL)


def test_two_pairs(student: Student, rng: np.random.Generator) -> None:
    """Four entries: two pairs of a sine and a cosine."""
    _agree(student, [(1, 4), (2, 4), (int(rng.integers(5, 40)), 4)])


@pytest.mark.weight(2)
def test_more_pairs(student: Student, rng: np.random.Generator) -> None:
    """More entries: each pair turns more slowly than the one before."""
    drawn = int(rng.integers(10, 60)), 2 * int(rng.integers(3, 11))
    _agree(student, [(7, 8), (3, 6), (25, 10), drawn])


def test_one_pair(student: Student, rng: np.random.Generator) -> None:
    """Two entries only."""
    _agree(student, [(1, 2), (2, 2), (int(rng.integers(4, 30)), 2)])


def test_first_position(student: Student, rng: np.random.Generator) -> None:
    """Positions count from zero."""
    half = int(rng.integers(3, 9))
    _agree(student, [(0, 4), (1, 6), (0, 2 * half)])


def test_odd_width(student: Student, rng: np.random.Generator) -> None:
    """An odd number of entries is refused, and its even neighbours are not."""
    half = int(rng.integers(3, 9))
    _agree(student, [(2, 2), (2, 4), (3, 2 * half)])
    for d in (3, 1, 2 * half + 1):
        with student.rejects(ValueError):
            student.positional_encoding(2, d)


def test_width_not_positive(student: Student, rng: np.random.Generator) -> None:
    """A number of entries that is zero or negative is refused, and a small positive one is not."""
    half = int(rng.integers(3, 9))
    _agree(student, [(1, 2), (3, 2), (4, 2 * half)])
    for d in (0, -2, -3, -2 * half):
        with student.rejects(ValueError):
            student.positional_encoding(2, d)
