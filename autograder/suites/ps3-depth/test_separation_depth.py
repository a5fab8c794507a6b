"""Checks of `separation_depth(depths, plain, prenorm, margin=0.10)`; gaps stay away from the margin."""

from __future__ import annotations

import numpy as np

from autograder.exercises.compare import exact, same
from autograder.sandbox.student import Student

DEPTHS = [4, 8, 12, 20]
PLAIN = [0.84, 0.79, 0.50, 0.20]
PRENORM = [0.88, 0.87, 0.86, 0.85]


def _agree(student: Student, cases: list[tuple[list[object], int | None]]) -> None:
    """Ask everything first: which wrong answer it is may show in the last case only."""
    answers = [student.separation_depth(*arguments) for arguments, _ in cases]
    for answer, (_, expected) in zip(answers, cases, strict=True):
        if expected is None:
            same(answer, None)
        else:
            exact(answer, expected)


def test_first_lead(student: Student, rng: np.random.Generator) -> None:
    """The first depth at which pre-norm leads by the margin or more, in points of accuracy."""
    shift = int(rng.integers(1, 5))
    _agree(
        student,
        [
            ([DEPTHS, PLAIN, PRENORM], 12),
            ([DEPTHS, [0.60, 0.30, 0.35, 0.20], [0.64, 0.36, 0.41, 0.45]], 20),
            ([[d + shift for d in DEPTHS], PLAIN, PRENORM], 12 + shift),
            ([[3, 5, 9], [0.5, 0.2, 0.2], [0.8, 0.8, 0.8]], 3),
            ([[3, 5, 9], [0.5, 0.4, 0.2], [0.5005, 0.43, 0.8]], 9),
        ],
    )


def test_signed(student: Student, rng: np.random.Generator) -> None:
    """A depth at which plain leads is not a separation."""
    more = int(rng.integers(0, 9))
    _agree(
        student,
        [
            ([DEPTHS, [0.9, 0.7, 0.4, 0.2], [0.6, 0.75, 0.7, 0.7]], 12),
            ([[5, 6, 7 + more], [0.9, 0.3, 0.2], [0.5, 0.35, 0.8]], 7 + more),
        ],
    )


def test_margin(student: Student, rng: np.random.Generator) -> None:
    """The margin is the one that is given."""
    shift = int(rng.integers(1, 9))
    shifted = [depth + shift for depth in DEPTHS]
    _agree(
        student,
        [
            ([DEPTHS, PLAIN, PRENORM, 0.05], 8),
            ([DEPTHS, PLAIN, PRENORM, 0.5], 20),
            ([shifted, PLAIN, PRENORM, 0.05], 8 + shift),
        ],
    )


def test_any_order(student: Student, rng: np.random.Generator) -> None:
    """Depths may come in any order: the smallest one that separates counts."""
    order = rng.permutation(4)
    depths, plain, prenorm = ([values[i] for i in order] for values in (DEPTHS, PLAIN, PRENORM))
    backwards = [DEPTHS[::-1], PLAIN[::-1], PRENORM[::-1]]
    _agree(student, [(list(backwards), 12), ([depths, plain, prenorm, 0.05], 8)])


def test_never(student: Student, rng: np.random.Generator) -> None:
    """None when pre-norm never leads by the margin, and only then."""
    last = int(rng.integers(6, 30))
    _agree(
        student,
        [
            ([[4, last], [0.5, 0.2], [0.52, 0.4]], last),
            ([DEPTHS, PLAIN, PLAIN], None),
            ([[4, 8], [0.9, 0.8], [0.5, 0.4]], None),
        ],
    )
