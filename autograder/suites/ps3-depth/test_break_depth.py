"""Checks of `break_depth(depths, ratios, threshold=1e-3)`. No probe but one stands at the threshold."""

from __future__ import annotations

import numpy as np

from autograder.exercises.compare import exact, same
from autograder.reference.depth import break_depth
from autograder.sandbox.student import Student

SWEEP = [4, 8, 12, 16, 20, 28]
PLAIN = [1.47e-1, 3.05e-3, 2.46e-5, 8.17e-7, 2.16e-8, 2.02e-12]


def _agree(student: Student, cases: list[tuple[list[object], int | None]]) -> None:
    """Ask everything first: which wrong answer it is may show in the last case only."""
    answers = [student.break_depth(*arguments) for arguments, _ in cases]
    for answer, (_, expected) in zip(answers, cases, strict=True):
        if expected is None:
            same(answer, None)
        else:
            exact(answer, expected)


def test_first_depth_below(student: Student, rng: np.random.Generator) -> None:
    """The first depth whose ratio is below the threshold: not its place, and not the last one above."""
    start = int(rng.integers(5, 9))
    depths = [start + 3 * i for i in range(5)]
    ratios = [0.5, 0.04, 2e-3, 7e-4, 1e-6]
    _agree(
        student,
        [
            ([SWEEP, PLAIN], 12),
            ([depths, ratios], break_depth(depths, ratios)),
            ([[20, 28], [2e-8, 2e-12]], 20),
        ],
    )


def test_threshold(student: Student, rng: np.random.Generator) -> None:
    """The threshold is the one that is given, and a ratio that equals it is not below it."""
    last = int(rng.integers(10, 30))
    _agree(
        student,
        [
            ([SWEEP, PLAIN, 1e-5], 16),
            ([SWEEP, PLAIN, 0.1], 8),
            ([[5, 9, last], [0.5, 0.25, 0.125], 0.25], last),
        ],
    )


def test_not_monotone(student: Student, rng: np.random.Generator) -> None:
    """Ratios may climb back, and depths may come in any order: the smallest depth counts."""
    order = rng.permutation(len(SWEEP))
    _agree(
        student,
        [
            ([[4, 8, 12, 16], [0.2, 5e-4, 3e-3, 1e-5]], 8),
            ([[SWEEP[i] for i in order], [PLAIN[i] for i in order]], 12),
            ([[20, 12, 4, 8], [2e-8, 2.5e-5, 0.15, 3e-3]], 12),
        ],
    )


def test_underflow(student: Student, rng: np.random.Generator) -> None:
    """A ratio that has underflowed to exactly zero is below every positive threshold."""
    last = int(rng.integers(11, 30))
    _agree(student, [([[4, 8, 12], [0.3, 0.0, 0.0]], 8), ([[6, 10, last], [0.3, 0.2, 0.0]], last)])


def test_never(student: Student, rng: np.random.Generator) -> None:
    """None when no depth breaks, and only then."""
    last = int(rng.integers(9, 30))
    _agree(
        student,
        [
            ([[4, 8, last], [1.0, 0.9, 1e-4]], last),
            ([[4, 8, 12], [0.99, 1.02, 1.1]], None),
            ([[7, 9], [1e-4, 0.9]], 7),
        ],
    )
