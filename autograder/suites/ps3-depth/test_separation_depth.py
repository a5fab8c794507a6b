"""Checks of `separation_depth(depths, plain, prenorm, margin=0.10)`; gaps stay away from the margin."""

from __future__ import annotations

import numpy as np

from autograder.exercises.compare import exact, same
from autograder.sandbox.student import Student

DEPTHS = [4, 8, 12, 20]
PLAIN = [0.84, 0.79, 0.50, 0.20]
PRENORM = [0.88, 0.87, 0.86, 0.85]


def test_first_lead(student: Student, rng: np.random.Generator) -> None:
    """The first depth at which pre-norm leads by the margin or more, in points of accuracy."""
    exact(student.separation_depth(DEPTHS, PLAIN, PRENORM), 12)
    exact(student.separation_depth(DEPTHS, [0.60, 0.30, 0.35, 0.20], [0.64, 0.36, 0.41, 0.45]), 20)
    shift = int(rng.integers(1, 5))
    exact(student.separation_depth([d + shift for d in DEPTHS], PLAIN, PRENORM), 12 + shift)
    exact(student.separation_depth([3, 5, 9], [0.5, 0.2, 0.2], [0.8, 0.8, 0.8]), 3)
    exact(student.separation_depth([3, 5, 9], [0.5, 0.4, 0.2], [0.5005, 0.43, 0.8]), 9)


def test_signed(student: Student, rng: np.random.Generator) -> None:
    """A depth at which plain leads is not a separation."""
    exact(student.separation_depth(DEPTHS, [0.9, 0.7, 0.4, 0.2], [0.6, 0.75, 0.7, 0.7]), 12)
    exact(student.separation_depth([5, 6, 7], [0.9, 0.3, 0.2], [0.5, 0.35, 0.8]), 7)


def test_margin(student: Student, rng: np.random.Generator) -> None:
    """The margin is the one that is given."""
    exact(student.separation_depth(DEPTHS, PLAIN, PRENORM, 0.05), 8)
    exact(student.separation_depth(DEPTHS, PLAIN, PRENORM, margin=0.5), 20)


def test_any_order(student: Student, rng: np.random.Generator) -> None:
    """Depths may come in any order: the smallest one that separates counts."""
    exact(student.separation_depth(DEPTHS[::-1], PLAIN[::-1], PRENORM[::-1]), 12)
    order = rng.permutation(4)
    depths, plain, prenorm = ([values[i] for i in order] for values in (DEPTHS, PLAIN, PRENORM))
    exact(student.separation_depth(depths, plain, prenorm, 0.05), 8)


def test_never(student: Student, rng: np.random.Generator) -> None:
    """None when pre-norm never leads by the margin, and only then."""
    exact(student.separation_depth([4, 8], [0.5, 0.2], [0.52, 0.4]), 8)
    same(student.separation_depth(DEPTHS, PLAIN, PLAIN), None)
    same(student.separation_depth([4, 8], [0.9, 0.8], [0.5, 0.4]), None)
