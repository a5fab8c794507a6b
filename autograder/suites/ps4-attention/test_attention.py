"""Checks of `attention(Q, K, V)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import attention as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]

#: The fixed probes: the same for every course.
FIXED = 40


def _words(rng: np.random.Generator, n_q: int, n_k: int, d_k: int, d_v: int) -> tuple[Array, Array, Array]:
    """Queries and keys give scores of a few units: saturated weights would hide the scale."""
    return (
        rng.uniform(-1.5, 1.5, (n_q, d_k)),
        rng.uniform(-1.5, 1.5, (n_k, d_k)),
        rng.uniform(-5, 5, (n_k, d_v)),
    )


def _agree(student: Student, cases: list[tuple[Array, Array, Array]]) -> None:
    answers = [student.attention(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.attention(*case))


@pytest.mark.weight(2)
def test_four_sizes(student: Student, rng: np.random.Generator) -> None:
    """The numbers of queries and of keys, and the widths of keys and of values, all differ."""
    fixed = np.random.default_rng(FIXED)
    n_q, n_k, d_k, d_v = (int(size) for size in rng.permutation(np.arange(2, 8))[:4])
    _agree(student, [_words(fixed, 2, 3, 4, 5), _words(fixed, 5, 4, 3, 2), _words(rng, n_q, n_k, d_k, d_v)])


def test_equal_sizes(student: Student, rng: np.random.Generator) -> None:
    """As many queries as keys, of the width of the values: rows and columns keep their roles."""
    fixed = np.random.default_rng(FIXED + 1)
    _agree(student, [_words(fixed, 4, 4, 4, 4), _words(fixed, 3, 3, 3, 3), _words(rng, 5, 5, 5, 5)])


def test_wide_keys(student: Student, rng: np.random.Generator) -> None:
    """Wide queries and keys give larger sums, which the formula tempers."""
    fixed = np.random.default_rng(FIXED + 2)
    _agree(student, [_words(fixed, 2, 3, 16, 4), _words(fixed, 3, 2, 25, 7), _words(rng, 3, 4, 12, 2)])


def test_few_words(student: Student, rng: np.random.Generator) -> None:
    """A single query over several keys, and several queries over a single key."""
    fixed = np.random.default_rng(FIXED + 3)
    _agree(student, [_words(fixed, 1, 3, 2, 4), _words(fixed, 3, 1, 2, 4), _words(rng, 1, 5, 3, 2)])


def test_large_scores(student: Student, rng: np.random.Generator) -> None:
    """Scores of a thousand, close to each other, overflow nothing."""
    step = float(rng.integers(1, 4))
    queries = np.array([[500.0, 250.0, -125.0, 0.0], [-500.0, 0.0, 250.0, 125.0]])
    keys = np.array([[4.0, 1.0, 2.0, 0.5], [4.0, 1.0, 2.0, 0.504], [4.0, 1.004, 2.0, 0.5]])
    values = np.array([[1.0, -2.0], [3.0, step], [-4.0, 5.0]])
    _agree(student, [(queries, keys, values), (2.0 * queries[::-1].copy(), keys, values[:, ::-1].copy())])
