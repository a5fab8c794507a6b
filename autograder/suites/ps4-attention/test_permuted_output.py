"""Checks of `permuted_output(Y, perm)`. No permutation here is its own inverse, save beside others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import attention as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]


def _rows(rng: np.random.Generator, n: int, d: int) -> Array:
    """All entries different, both signs."""
    return rng.permutation(n * d).reshape(n, d) / 4.0 - n * d / 8.0


def _cycle(rng: np.random.Generator, n: int) -> list[int]:
    """One cycle through all n places, n >= 3: its inverse is another permutation."""
    order = rng.permutation(n)
    perm = np.zeros(n, dtype=int)
    perm[order] = np.roll(order, 1)
    return [int(one) for one in perm]


def _agree(student: Student, cases: list[tuple[Array, list[int]]]) -> None:
    answers = [student.permuted_output(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.permuted_output(*case))


def test_cycle(student: Student, rng: np.random.Generator) -> None:
    """Every word moves, and the permutation differs from its inverse."""
    _agree(
        student,
        [
            (np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), [1, 2, 0]),
            (np.array([[-1.0, 2.5, 4.0, 0.5], [3.0, -4.0, 7.0, 1.0], [5.0, 6.0, -2.0, 8.0]]), [2, 0, 1]),
            (_rows(rng, 6, 4), _cycle(rng, 6)),
        ],
    )


def test_square_output(student: Student, rng: np.random.Generator) -> None:
    """As many words as columns: words move, columns stay."""
    _agree(
        student,
        [
            (np.arange(16.0).reshape(4, 4) ** 2, [2, 3, 1, 0]),
            (np.arange(25.0).reshape(5, 5) - 7.5, [1, 0, 3, 4, 2]),
            (_rows(rng, 5, 5), _cycle(rng, 5)),
        ],
    )


@pytest.mark.weight(2)
def test_some_words_stay(student: Student, rng: np.random.Generator) -> None:
    """Some words stay where they are, and others move in a cycle."""
    first = _cycle(rng, 4)
    _agree(
        student,
        [
            (np.arange(18.0).reshape(6, 3) - 4.0, [0, 3, 2, 5, 4, 1]),
            (np.arange(10.0).reshape(5, 2) * 1.5, [4, 1, 0, 3, 2]),
            (_rows(rng, 6, 2), [*first, 4, 5]),
        ],
    )
