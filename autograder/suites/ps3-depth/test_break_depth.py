"""Checks of `break_depth(depths, ratios, threshold=1e-3)`. No probe but one stands at the threshold."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.exercises.compare import exact, same
from autograder.reference.depth import break_depth
from autograder.sandbox.student import Student

SWEEP = [4, 8, 12, 16, 20, 28]
PLAIN = [1.47e-1, 3.05e-3, 2.46e-5, 8.17e-7, 2.16e-8, 2.02e-12]


def _right(depths: list[int], ratios: list[float], threshold: float = 1e-3) -> int:
    found = break_depth(depths, ratios, threshold)
    if found is None:
        raise RuntimeError("the probe never breaks")
    return found


def test_first_depth_below(student: Student, rng: np.random.Generator) -> None:
    """The first depth whose ratio is below the threshold: not its place, and not the last one above."""
    exact(student.break_depth(SWEEP, PLAIN), 12)
    start = int(rng.integers(5, 9))
    depths = [start + 3 * i for i in range(5)]
    ratios = [0.5, 0.04, 2e-3, 7e-4, 1e-6]
    exact(student.break_depth(depths, ratios), _right(depths, ratios))
    exact(student.break_depth([20, 28], [2e-8, 2e-12]), 20)


def test_threshold(student: Student, rng: np.random.Generator) -> None:
    """The threshold is the one that is given, and a ratio that equals it is not below it."""
    exact(student.break_depth(SWEEP, PLAIN, 1e-5), 16)
    exact(student.break_depth(SWEEP, PLAIN, threshold=0.1), 8)
    exact(student.break_depth([5, 9, 14], [0.5, 0.25, 0.125], 0.25), 14)


def test_not_monotone(student: Student, rng: np.random.Generator) -> None:
    """Ratios may climb back, and depths may come in any order: the smallest depth counts."""
    exact(student.break_depth([4, 8, 12, 16], [0.2, 5e-4, 3e-3, 1e-5]), 8)
    order = rng.permutation(len(SWEEP))
    exact(student.break_depth([SWEEP[i] for i in order], [PLAIN[i] for i in order]), 12)
    exact(student.break_depth([20, 12, 4, 8], [2e-8, 2.5e-5, 0.15, 3e-3]), 12)


def test_underflow(student: Student, rng: np.random.Generator) -> None:
    """A ratio that has underflowed to exactly zero is below every positive threshold."""
    exact(student.break_depth([4, 8, 12], [0.3, 0.0, 0.0]), 8)
    exact(student.break_depth([6, 10, 13], [0.3, 0.2, 0.0]), 13)


@pytest.mark.weight(1)
def test_never(student: Student, rng: np.random.Generator) -> None:
    """None when no depth breaks, and only then."""
    exact(student.break_depth([4, 8, 12], [1.0, 0.9, 1e-4]), 12)
    same(student.break_depth([4, 8, 12], [0.99, 1.02, 1.1]), None)
    exact(student.break_depth([7, 9], [1e-4, 0.9]), 7)
