"""Checks of `self_attention(X, W_q, W_k, W_v)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import attention as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]

#: The fixed probes: the same for every course.
FIXED = 50


def _layer(rng: np.random.Generator, n: int, d: int, d_k: int, d_v: int) -> tuple[Array, Array, Array, Array]:
    """Scores of a few units: saturated weights would hide what made them."""
    return (
        rng.uniform(-1.5, 1.5, (n, d)),
        rng.uniform(-1.0, 1.0, (d, d_k)),
        rng.uniform(-1.0, 1.0, (d, d_k)),
        rng.uniform(-2.0, 2.0, (d, d_v)),
    )


def _agree(student: Student, cases: list[tuple[Array, Array, Array, Array]]) -> None:
    answers = [student.self_attention(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.self_attention(*case))


@pytest.mark.weight(2)
def test_four_sizes(student: Student, rng: np.random.Generator) -> None:
    """The number of words and the widths of words, keys and values all differ."""
    fixed = np.random.default_rng(FIXED)
    n, d, d_k, d_v = (int(size) for size in rng.permutation(np.arange(2, 7))[:4])
    _agree(student, [_layer(fixed, 3, 5, 2, 4), _layer(fixed, 5, 3, 4, 2), _layer(rng, n, d, d_k, d_v)])


def test_equal_sizes(student: Student, rng: np.random.Generator) -> None:
    """Square matrices everywhere: each keeps its role."""
    fixed = np.random.default_rng(FIXED + 1)
    _agree(student, [_layer(fixed, 4, 4, 4, 4), _layer(fixed, 3, 3, 3, 3), _layer(rng, 5, 5, 5, 5)])


def test_narrow_keys(student: Student, rng: np.random.Generator) -> None:
    """Wide words and narrow keys, then the other way round: the scale follows the keys."""
    fixed = np.random.default_rng(FIXED + 2)
    _agree(student, [_layer(fixed, 3, 7, 2, 5), _layer(fixed, 4, 2, 9, 3), _layer(rng, 3, 2, 12, 4)])
